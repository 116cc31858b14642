"""Commands that make, change and list files, over the interpreted file system.

Each gives its status, or None when it has to be treated as an unknown command.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from botlint.shell.commands import MODELS, sed_in_place
from botlint.shell.paths import WORKSPACE, relative_to_workspace
from botlint.shell.patterns import matches
from botlint.shell.process import UNKNOWN_INSIDE, FileEntry
from botlint.shell.signals import Status, Undecided
from botlint.shell.streams import In, Out
from botlint.shell.values import Text, Value, concat, derive, hole, reason_of, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

FileCommand = Callable[["Shell", list[Value]], "Status | None"]

MAX_TREE = 5_000
"""Files of a directory that a copy records one by one."""


def _split(args: list[Value], valued: str = "") -> tuple[set[str], dict[str, Value], list[Value]]:
    """(flags, options with a value, operands)."""
    flags: set[str] = set()
    options: dict[str, Value] = {}
    operands: list[Value] = []
    at = 0
    ended = False
    while at < len(args):
        value = args[at]
        text = text_of(value)
        at += 1
        if not ended and text is not None and text.startswith("-") and len(text) > 1:
            if text == "--":
                ended = True
            elif text.startswith("--"):
                name, equals, rest = text[2:].partition("=")
                if equals:
                    options[name] = rest
                else:
                    flags.add(name)
            else:
                for number, letter in enumerate(text[1:]):
                    if letter in valued:
                        rest = text[number + 2 :]
                        if rest:
                            options[letter] = rest
                        elif at < len(args):
                            options[letter] = args[at]
                            at += 1
                        break
                    flags.add(letter)
            continue
        operands.append(value)
    return flags, options, operands


def _put(shell: Shell, path: Value, entry: FileEntry) -> None:
    where = shell.place_of(path)
    if where is not None:
        shell.put_file(where, entry)


def _mkdir(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args, "m")
    status: Status = 0
    for path in operands:
        where, entry = shell.entry(path)
        if entry.kind in ("dir", "file"):
            if entry.kind == "file" or not flags & {"p", "parents"}:
                shell.complain(f"mkdir: cannot create directory '{text_of(path)}': File exists")
                status = 1
            continue
        if "p" not in flags and where and shell.kind_at(posixpath.dirname(where)) == "missing":
            shell.complain(f"mkdir: cannot create directory '{text_of(path)}': No such file or directory")
            status = 1
            continue
        _put(shell, path, FileEntry("dir", None, shell.place()))
        if "p" in flags and where:
            _make_parents(shell, path)
    return status


def _make_parents(shell: Shell, path: Value) -> None:
    """The directories that lead to one that has just been made."""
    parent = posixpath.dirname(shell.place_of(path) or "")
    made: list[str] = []
    while parent not in ("/", "", WORKSPACE) and not parent.startswith(f"{WORKSPACE}-"):
        if shell.kind_at(parent) == "dir":
            break
        made.append(parent)
        parent = posixpath.dirname(parent)
    own = len(shell.files.entries) - 1
    for directory in made:
        # Before the directory itself, which they must not hide.
        shell.files.entries.insert(own, (directory, FileEntry("dir", None, shell.place())))


def _rm(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args)
    status: Status = 0
    for path in operands:
        _, entry = shell.entry(path)
        if entry.kind == "missing":
            if "f" not in flags and "force" not in flags:
                shell.complain(f"rm: cannot remove '{text_of(path)}': No such file or directory")
                status = 1
            continue
        if entry.kind == "dir" and not flags & {"r", "R", "recursive", "d"}:
            shell.complain(f"rm: cannot remove '{text_of(path)}': Is a directory")
            status = 1
            continue
        _put(shell, path, FileEntry("missing", None, shell.place()))
    return status


def _rmdir(shell: Shell, args: list[Value]) -> Status | None:
    _, _, operands = _split(args)
    for path in operands:
        _put(shell, path, FileEntry("missing", None, shell.place()))
    return 0


def _touch(shell: Shell, args: list[Value]) -> Status | None:
    _, _, operands = _split(args, "dtr")
    for path in operands:
        _, entry = shell.entry(path)
        if entry.kind in ("missing", "unknown"):
            _put(shell, path, FileEntry("file", "" if entry.kind == "missing" else None, shell.place()))
    return 0


def _entry_copy(shell: Shell, path: Value) -> FileEntry:
    _, _, entry = shell.look(path)
    if entry.kind != "file":
        return entry
    if entry.content is not None or entry.copy_of is not None:
        return replace(entry, place=shell.place())
    return FileEntry("file", shell.content(entry), shell.place(), None, entry.origin)


def _tree(shell: Shell, directory: str) -> list[tuple[str, FileEntry]] | None:
    """Files below a canonical directory: (relative path, entry); None if only the machine knows them."""
    out: dict[str, FileEntry] = {}
    inner = relative_to_workspace(directory)
    index, kind, exact = shell.files.find(directory)
    if index < 0:
        kind = shell.files.revision_kind(directory)
    if kind != "dir" or (inner is None and index < 0):
        return None
    if index < 0 or (exact and inner is not None and not _replaced(shell, directory)):
        out.update(_revision_tree(shell, inner or ""))
    for where, entry in shell.files.entries:
        if where.startswith(directory + "/"):
            relative = where[len(directory) + 1 :]
            if entry.kind in ("file", "unknown"):
                out[relative] = entry
            elif entry.kind == "missing":
                for name in [n for n in out if n == relative or n.startswith(relative + "/")]:
                    del out[name]
            prefix = relative + "/"
        elif where == directory:
            if entry.kind == "missing":
                out.clear()
            prefix = ""
        elif entry.inside and directory.startswith(where + "/"):
            prefix = ""
        else:
            continue
        if entry.inside == UNKNOWN_INSIDE:
            return None
        if entry.inside:
            source = entry.inside + (directory[len(where) :] if directory.startswith(where + "/") else "")
            for name, copied in _revision_tree(shell, relative_to_workspace(source) or "").items():
                out[prefix + name] = copied
    return sorted(out.items())


def _replaced(shell: Shell, directory: str) -> bool:
    """Whether what the revision has in a directory has been removed."""
    return any(
        e.kind == "missing" and (w == directory or directory.startswith(w + "/")) for w, e in shell.files.entries
    )


def _revision_tree(shell: Shell, directory: str) -> dict[str, FileEntry]:
    """The files of the revision below a directory, by relative path."""
    base = shell.files.base
    out: dict[str, FileEntry] = {}
    todo = [directory]
    while todo:
        here = todo.pop()
        names = base.list_dir(here)
        if names is None:
            foreign = FileEntry("dir", None, None, inside=UNKNOWN_INSIDE)
            out[here[len(directory) :].lstrip("/") if directory else here] = foreign
        for name in names or ():
            path = f"{here}/{name}" if here else name
            if base.is_dir(path):
                todo.append(path)
            elif len(out) < MAX_TREE:
                source = f"{WORKSPACE}/{path}"
                out[path[len(directory) :].lstrip("/") if directory else path] = FileEntry(
                    "file", None, None, source, source
                )
    return out


def _copy_tree(shell: Shell, source: str, target: Value) -> None:
    """Copies a directory; what the revision has in it is only noted, what scripts have made is copied one by one."""
    shell.version += 1
    files, place = shell.files, shell.place()
    at = shell.place_of(target)
    if at is None:
        return
    changed = [(where, entry) for where, entry in files.entries if where == source or where.startswith(source + "/")]
    if relative_to_workspace(source) is not None and not changed and files.find(source)[0] < 0:
        files.put(at, FileEntry("dir", None, place, inside=source))
        return
    tree = _tree(shell, source)
    files.put(at, FileEntry("dir", None, place, inside=UNKNOWN_INSIDE if tree is None else ""))
    for relative, entry in tree or ():
        parent = posixpath.dirname(relative)
        if parent and files.own(f"{at}/{parent}") is None:
            files.put(f"{at}/{parent}", FileEntry("dir", None, place))
        files.put(f"{at}/{relative}", replace(entry, place=place))


def _cp(shell: Shell, args: list[Value]) -> Status | None:
    flags, options, operands = _split(args, "tS")
    recursive = bool(flags & {"r", "R", "a", "recursive", "archive"})
    flat = "T" in flags or "no-target-directory" in flags
    if "t" in options:
        operands.append(options["t"])
    if len(operands) < 2:
        return 1
    *sources, target = operands
    _, target_entry = shell.entry(target)
    into = not flat and (target_entry.kind == "dir" or (text_of(target) or "").endswith("/"))
    status: Status = 0
    for source in sources:
        where, entry = shell.entry(source)
        text = text_of(source)
        if entry.kind == "missing":
            shell.complain(f"cp: cannot stat '{text}': No such file or directory")
            status = 1
            continue
        name = posixpath.basename(_end_of(source).rstrip("/"))
        dot = (text or "").endswith("/.") or text == "."
        if entry.kind == "dir":
            if not recursive:
                shell.complain(f"cp: -r not specified; omitting directory '{text}'")
                status = 1
                continue
            if where:
                _copy_tree(shell, where, target if not into or dot else _inside(target, name))
            continue
        copied = _entry_copy(shell, source)
        if copied.kind == "unknown":
            _put(shell, _inside(target, name) if into else target, FileEntry("file", None, shell.place()))
            status = status or Undecided("cp succeeds")
            continue
        _put(shell, _inside(target, name) if into else target, copied)
    return status


def _end_of(path: Value) -> str:
    """The text of a path, of a partly unknown one its literal end."""
    text = text_of(path)
    if text is not None:
        return text
    assert isinstance(path, Text)
    last = path.pieces[-1]
    return last if isinstance(last, str) and "/" in last else "?"


def _inside(directory: Value, name: str) -> Value:
    text = text_of(directory)
    if text is not None and text.endswith("/"):
        return concat([directory, name])
    return concat([directory, "/", name])


def _mv(shell: Shell, args: list[Value]) -> Status | None:
    _, _, operands = _split(args, "tS")
    if len(operands) < 2:
        return 1
    copied = _cp(shell, ["-r", *operands])
    if copied == 0:
        for source in operands[:-1]:
            _put(shell, source, FileEntry("missing", None, shell.place()))
    return copied


def _chmod(shell: Shell, args: list[Value]) -> Status | None:
    mode = text_of(args[0]) if args else None
    for path in args[1:]:
        where, entry = shell.entry(path)
        if entry.kind == "missing":
            shell.complain(f"chmod: cannot access '{text_of(path)}': No such file or directory")
            return 1
        if mode is not None and re.fullmatch(r"[ugoa]*\+[rwX]*x[rwx]*|[0-7]*[1357][0-7]{2}", mode):
            shell.executables.add(where)
    return 0


def _ln(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args, "tS")
    if len(operands) >= 2:
        where = shell.canonical(operands[-1])
        if where is not None and "s" in flags:
            shell.links.add(where)
        copied = _entry_copy(shell, operands[0])
        _put(shell, operands[-1], copied if copied.kind != "missing" else FileEntry("unknown", None, shell.place()))
    return 0


def _cat(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args)
    if flags - {"u"}:
        return None
    out: list[Value] = []
    status: Status = 0
    for path in operands or ["-"]:
        if path == "-":
            stdin = shell.fds.get(0)
            if isinstance(stdin, In):
                rest = shell.drain(stdin)
                out.append(hole("input") if rest is None else rest)
            continue
        _, entry = shell.entry(path)
        if entry.kind in ("missing", "dir"):
            shell.complain(f"cat: {text_of(path)}: No such file or directory")
            status = 1
            continue
        content = shell.read_file(path)
        if content is None:
            out.append(hole(f"content of {text_of(path) or 'a file'}"))
            status = status or Undecided(f"cat {text_of(path) or 'a file'} succeeds")
        else:
            out.append(content)
    shell.write(concat(out))
    return status


def _tee(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args)
    stdin = shell.fds.get(0)
    rest = shell.drain(stdin) if isinstance(stdin, In) else ""
    content = hole("input") if rest is None else rest
    for path in operands:
        if text_of(path) in ("/dev/stderr", "/dev/tty"):
            continue
        shell.write_file(path, content, "a" in flags or "append" in flags)
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        shell.write(content)
    return 0


def _ls(shell: Shell, args: list[Value]) -> Status | None:
    flags, _, operands = _split(args)
    listed: list[str] = []
    for path in operands or ["."]:
        where, entry = shell.entry(path)
        if entry.kind == "missing":
            shell.complain(f"ls: cannot access '{text_of(path)}': No such file or directory")
            return 2
        if entry.kind == "unknown" or not where or flags - {"1", "A", "d"}:
            return None
        if entry.kind == "file" or "d" in flags:
            listed.append(text_of(path) or "")
            continue
        from botlint.shell.pathnames import names_in

        names = names_in(shell, where)
        if names is None:
            return None
        listed.extend(n for n in names if "A" in flags or not n.startswith("."))
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        shell.write("".join(f"{n}\n" for n in listed))
    return 0


def _sed_in_place(shell: Shell, args: list[Value]) -> Status | None:
    """`sed -i`: the model of sed over the content of each file."""
    shape = shell.observe(_in_place_shape, *args)
    if not isinstance(shape, tuple):
        return None
    kept, files, suffix = shape
    options: list[Value] = [args[item] if isinstance(item, int) else item for item in kept]
    status: Status = 0
    for number in files:
        path = args[number]
        _, entry = shell.entry(path)
        if entry.kind == "missing":
            shell.complain(f"sed: can't read {text_of(path)}: No such file or directory")
            status = 2
            continue
        if entry.kind == "unknown":
            status = status or Undecided("sed succeeds")
            continue
        content = shell.read_file(path)
        if isinstance(content, Text) and not content.known:
            content = _marked(shell, content)
        outcome = None if content is None else shell.observe(_sed_status, *options, content)
        if suffix:
            shell.write_file(concat([path, suffix]), content, False)
        if outcome == 0:
            assert content is not None
            shell.rewrite(path, derive(_sed_output, *options, content))
        else:
            shell.rewrite(path, None)
            status = outcome if isinstance(outcome, int) and outcome > 0 else Undecided("sed succeeds")
    return status


def _marked(shell: Shell, content: Text) -> Value:
    """A text whose unknown parts are the marks by which an evaluated text refers to values: an edit leaves them."""
    pieces: list[Value] = []
    for piece in content.pieces:
        value = piece if isinstance(piece, str) else Text((piece,))
        pieces.append(
            value
            if isinstance(value, str) or value.known
            else f"\ue000{shell.world.hole_number(hole(reason_of(value)))}\ue001"
        )
    return concat(pieces)


def _in_place_shape(*texts: str) -> tuple[tuple[int | str, ...], tuple[int, ...], str] | None:
    """For `sed -i`: its arguments (positions where they are words of the call), positions of the files, the suffix."""
    found = sed_in_place(texts)
    if found is None:
        return None
    kept, files = found
    suffixes = [m.group(1) or m.group(2) for t in texts if (m := re.fullmatch(r"-[nErsuz]*i(.+)|--in-place=(.+)", t))]
    return (
        tuple(texts.index(k) if k in texts else k for k in kept),
        tuple(len(texts) - 1 - texts[::-1].index(f) for f in files),
        suffixes[-1] if suffixes else "",
    )


def _sed_status(*texts: str) -> int:
    found = MODELS["sed"](texts[:-1], texts[-1])
    return -1 if found is None else found[0]


def _sed_output(*texts: str) -> str:
    found = MODELS["sed"](texts[:-1], texts[-1])
    return "" if found is None else found[1]


def _same_files(shell: Shell, args: list[Value]) -> Status | None:
    """`diff` and `cmp` of two files: whether they are equal; what differs is not shown."""
    _, _, operands = _split(args, "UCI")
    if len(operands) != 2:
        return None
    left, right = shell.read_file(operands[0]), shell.read_file(operands[1])
    if left is None or right is None:
        return None
    same = shell.observe(str.__eq__, left, right)
    if same is None:
        return None
    if not same:
        shell.write(hole("the differences of two files"))
    return int(not same)


@dataclass(slots=True)
class _Search:
    """What a `find` looks for, and what it does with it."""

    roots: list[Value]
    names: list[str]
    depth: int | None
    kind: str
    action: list[Value]
    together: bool


def _find(shell: Shell, args: list[Value]) -> Status | None:
    """`find DIR... [-type f] [-name G] [-maxdepth N] [-exec CMD {} +|;]` over known directories."""
    search = _search(args)
    if search is None or search.kind == "d":
        return None
    found: list[Value] = []
    for root in search.roots or ["."]:
        where, entry = shell.entry(root)
        if entry.kind == "missing":
            shell.complain(f"find: '{text_of(root)}': No such file or directory")
            return 1
        tree = _tree(shell, where) if entry.kind == "dir" else None
        if tree is None:
            return None
        for relative, _ in tree:
            near = search.depth is None or relative.count("/") < search.depth
            if near and all(matches(n, posixpath.basename(relative)) for n in search.names):
                found.append(_inside(root, relative))
    if search.action:
        _run_on(shell, search, found)
        return 0
    shell.write(concat([piece for path in found for piece in (path, "\n")]))
    return 0


def _search(args: list[Value]) -> _Search | None:
    """The arguments of `find`, None if they say more than this."""
    search = _Search([], [], None, "", [], False)
    at = 0
    while at < len(args) and not (text_of(args[at]) or "").startswith(("-", "(", "!")):
        search.roots.append(args[at])
        at += 1
    while at < len(args):
        text = text_of(args[at])
        operand = text_of(args[at + 1]) or "" if at + 1 < len(args) else ""
        at += 1 if text == "-print" else 2
        if text in ("-name", "-iname"):
            search.names.append(operand)
        elif text == "-maxdepth":
            search.depth = int(operand) if operand.isdigit() else None
        elif text == "-type":
            search.kind = operand
        elif text == "-exec":
            at -= 1
            while at < len(args) and text_of(args[at]) not in (";", "+"):
                search.action.append(args[at])
                at += 1
            search.together = at < len(args) and text_of(args[at]) == "+"
            at += 1
        elif text != "-print":
            return None
    return search


def _run_on(shell: Shell, search: _Search, found: list[Value]) -> None:
    from botlint.shell.launching import run_command

    if not search.together:
        for path in found:
            run_command(shell, [path if w == "{}" else w for w in search.action], {})
    elif found:
        words: list[Value] = []
        for word in search.action:
            words.extend(found if word == "{}" else [word])
        run_command(shell, words, {})


def _mktemp(shell: Shell, args: list[Value]) -> Status | None:
    path = hole("temporary file", True)
    del args
    shell.write(concat([path, "\n"]))
    return 0


def _realpath(shell: Shell, args: list[Value]) -> Status | None:
    """`realpath`, `readlink -f`: textual, since links of the machine are not known."""
    flags, options, operands = _split(args)
    if options or flags - {"f", "m", "e", "s", "q", "canonicalize"} or len(operands) != 1:
        return None
    path = operands[0]
    where = shell.canonical(path)
    if where is None:
        return None
    if isinstance(path, Text) and path.symbolic:
        shell.concrete(path)
    from botlint.shell.variables import path_value

    shell.write(concat([path_value(shell, where), "\n"]))
    return 0


def _git(shell: Shell, args: list[Value]) -> Status | None:
    """`git clone` makes a directory whose content is not known; what is checked out is noted in its `.git/HEAD`."""
    at = 0
    directory: Value = "."
    while at < len(args) and (text_of(args[at]) or "-").startswith("-"):
        valued = text_of(args[at]) in ("-C", "-c")
        if text_of(args[at]) == "-C" and at + 1 < len(args):
            directory = args[at + 1]
        at += 2 if valued else 1
    verb = text_of(args[at]) if at < len(args) else None
    if verb == "clone":
        return _git_clone(shell, args[at + 1 :])
    if verb in ("checkout", "switch", "reset"):
        return _git_checkout(shell, directory, args[at + 1 :])
    return None


def _git_clone(shell: Shell, args: list[Value]) -> Status | None:
    branch: Value = ""
    for number, value in enumerate(args):
        text = text_of(value) or ""
        if text in ("-b", "--branch") and number + 1 < len(args):
            branch = args[number + 1]
        elif text.startswith("--branch="):
            branch = text[len("--branch=") :]
    operands = _without_valued(args)
    if not operands:
        return None
    if len(operands) > 1:
        target: Value = operands[1]
    else:
        url = text_of(operands[0])
        if url is None:
            return None
        target = posixpath.basename(url.rstrip("/")).removesuffix(".git")
    _put(shell, target, FileEntry("dir", None, shell.place(), inside=UNKNOWN_INSIDE))
    _put(shell, _inside(target, ".git"), FileEntry("dir", None, shell.place(), inside=UNKNOWN_INSIDE))
    _put(shell, _inside(target, ".git/HEAD"), FileEntry("file", concat([branch, "\n"]), shell.place()))
    return Undecided("git clone succeeds")


def _git_checkout(shell: Shell, directory: Value, args: list[Value]) -> Status | None:
    """Notes what is checked out in a clone that this script has made."""
    words = [a for a in args if not (text_of(a) or "").startswith("-")]
    head = _inside(directory, ".git/HEAD")
    if len(words) != 1 or "--" in args or shell.look(head)[1] < 0:
        return None
    _put(shell, head, FileEntry("file", concat([words[0], "\n"]), shell.place()))
    return Undecided("git checkout succeeds")


def _without_valued(args: list[Value]) -> list[Value]:
    valued = set("-b --branch --depth -o --origin -c --config -j --jobs --filter --reference".split())
    out: list[Value] = []
    at = 0
    while at < len(args):
        text = text_of(args[at])
        at += 1
        if text in valued:
            at += 1
        elif text is None or not text.startswith("-"):
            out.append(args[at - 1])
    return out


COMMANDS: dict[str, FileCommand] = {
    "mkdir": _mkdir,
    "rm": _rm,
    "rmdir": _rmdir,
    "touch": _touch,
    "cp": _cp,
    "mv": _mv,
    "ln": _ln,
    "chmod": _chmod,
    "cat": _cat,
    "tee": _tee,
    "ls": _ls,
    "sed": _sed_in_place,
    "find": _find,
    "mktemp": _mktemp,
    "realpath": _realpath,
    "readlink": _realpath,
    "git": _git,
    "diff": _same_files,
    "cmp": _same_files,
}
