"""The model of awk compared with the real tools."""

from __future__ import annotations

from real_tools import check_commands, check_unknown, with_input

MODELLED = [
    ("awk '{if ($NF > m) m = $NF} END {print m+0}'", "GPU: 3\nGPU: 12\nGPU: 7\n"),
    ("awk -F': ' '{print $2}'", "eth0: tw-eth: x\n"),
    ("awk -F': ' '/tw-eth/{print $2}'", "1: tw-eth0: <UP>\n"),
    ("awk 'NR == 1 {split($4, address, \"/\"); print address[1]}'", "2: eth inet 10.0.0.1/24 brd\n"),
    ("awk '/^dataset_path:[[:space:]]/{print $2; exit}'", "x: 1\ndataset_path: abc\n"),
    ("awk -v ip=10.0.0.1 '$4 ~ ip {print $2}'", "2: eth inet 10.0.0.1/24\n"),
    ("awk '{print tolower($0)}'", "ABC"),
    ("awk '{gsub(/a/,\"\\\\&\"); print}'", "banana"),
    ("awk '!seen[$0]++'", "a\nb\na\n"),
    ("awk 'END{print $1, NF}'", "a b\nc d e\n"),
    ("awk '{print $(NF-1)}'", "a b c\n"),
    ("awk '{print $NF-1}'", "a b 5\n"),
    ("awk '{print $1+0}'", "12abc\n"),
    ("awk '$1==0{print \"z\"}'", "0.0\n00\nx\n"),
    ("awk '{print ($1==$2)}'", "1.0 1\na a\n1 01\n"),
    ("awk -F. '{print $2}'", "a.b\n"),
    ("awk -F'\\t' '{print $2}'", "a\tb c\td\n"),
    ("awk -F'[|]+' '{print $2}'", "a||b|c"),
    ("awk -F'[:;]' '{print $2}'", "a:b;c"),
    ("awk '{print $1}'", "  lead trail  \n"),
    ("awk -F: '{print NF}'", ":a:b:"),
    ('awk \'{ gsub(/"/, ""); print }\'', 'a"b"\n'),
    ("awk '{ gsub(/[ \\t]+$/, \"\"); print }'", "ab \t\n"),
    ("awk '{ gsub(/^[ \\t]+|[ \\t]+$/, \"\", $0); print }'", "  ab \t\n"),
    ("awk '{ sub(/.*\\//, \"\"); print }'", "a/b/c\n"),
    ('awk -v m=y \'$0 ~ "^" m ":" {f=1; next} f && /^ /{print $1; next} {f=0}\'', "x:\n a\ny:\n b\n c\n"),
    ("awk '{print $1}' -", "x y\n"),
    ("awk -F: -v OFS=, '{$1=$1}1'", "a:b:c\n"),
    ('awk \'{ if ($1 == "x") { print "yes" } else print "no" }\'', "x\ny\n"),
    ("awk '{exit $1}'", "7\n"),
]
MODELLED += with_input(
    "alice 30 x\nbob 25 y\n\ncarol 7 z w\n",
    r"""
awk '{print $1}'
awk '{print $NF}'
awk '{print $2, $1}'
awk '{print NF}'
awk '{print NR":"$0}'
awk NR==1
awk 'NR==2{print $2}'
awk /bob/
awk '/bob/{print $2; exit}'
awk '!/bob/'
awk '$2>20'
awk '$2>20{print $1}'
awk 'END{print NR}'
awk '{s+=$2} END{print s}'
awk '{s+=$2} END{print s/NR}'
awk '{print length($1)}'
awk '{print length}'
awk '{print toupper($1)}'
awk '{print substr($1,2,3)}'
awk '{print substr($1,2)}'
awk '{print index($1,"o")}'
awk '{gsub(/[aeiou]/,"_"); print}'
awk '{sub(/o/,"<&>",$1); print}'
awk '{n=gsub(/o/,"0"); print n, $0}'
awk '{$2="Q"; print}'
awk '{$6="Q"; print}'
awk '{NF=1; print}'
awk 'BEGIN{OFS="-"} {$1=$1; print}'
awk 'BEGIN{OFS=","} {print $1,$2}'
awk 'BEGIN{ORS=" "} {print $1}'
awk '{a[$1]=$2} END{print a["bob"]}'
awk '{c[$3]++} END{print c["x"], length(c)}'
awk '$3 in s{print "dup"} {s[$3]=1}'
awk '{print ($2<100), ($2<"100")}'
awk 'NR>1 && NR<4'
awk NR==2,NR==3
awk '/alice/,/bob/{print $1}'
awk '{next} {print}'
awk 'NR==1{next} {print $1}'
awk '$1=="bob"{print $2}'
awk '$2==25{print $1}'
awk '$1~/^a/{print}'
awk '$1!~/^a/{print}'
awk '$1 ~ "^c"'
awk 1
awk 0
awk '""'
awk NF
awk '{exit 4} END{print NR}'
awk '{print > "/dev/stderr"}'
awk '{$3=""; print NF, $0}'
awk '{print NF ? $NF : "none"}'
awk '{x[NR]=$1} END{for(i=NR;i>0;i--) print x[i]}'
awk '{for(k in x) print k}'
awk '{print $1""$2}'
awk '{print $1 $2}'
awk '{sum+=$2; if($2>max) max=$2} END{printf "%d %d %.1f\n",sum,max,sum/NR}'
awk '{a=$1; $0="x y"; print $2, NF, a}'
awk '/x/||/w/'
awk '/x/&&/30/'
awk '!(NR%2)'
awk 'NR%2==0{print $1}'
awk '{$1=""; print substr($0,2)}'
awk '{printf "%s ", $1}'
awk '$2 ~ /^[0-9]+$/ {print $2}'
awk '{a[NR]=$0} END{print a[NR]; print a[1]}'
awk 'NF{print $1}'
awk '{n+=length($0)+1} END{print n}'
awk 'END{exit NR>2}'
""",
)
MODELLED += with_input(
    "",
    r"""
awk 'BEGIN{print 1+2*3}'
awk 'BEGIN{print 7/2}'
awk 'BEGIN{print 1/3}'
awk 'BEGIN {printf "%d", 10 - 3}'
awk 'BEGIN {printf "%.2f", 1 + (10 / 4)}'
awk 'BEGIN{print (5-1)/3}'
awk -v s=10 -v cap=9 'BEGIN { exit !(s > cap) }'
awk -v s=10 -v cap=11 'BEGIN { exit !(s > cap) }'
awk -v s=0 -v cap=11 'BEGIN { exit !(s <= 0 || s > cap) }'
awk -v r=abc -v cap=1 'BEGIN { exit !(r > cap) }'
awk 'BEGIN{for(i=0;i<3;i++) printf "%d,", i; print ""}'
awk 'BEGIN{while(i<3) print i++}'
awk 'BEGIN{do {print i; i++} while (i<2)}'
awk 'BEGIN{x=5; x+=2; x*=3; x-=1; x/=4; x%=3; print x}'
awk 'BEGIN{print 1==1, 1==2, "a"<"b", 10<9, "10"<"9"}'
awk 'BEGIN{print "a" "b" 1+2 "c"}'
awk 'BEGIN{print 1 " " -1}'
awk 'BEGIN{x="A"; y=x++; print x,y}'
awk 'BEGIN{print length("hello")}'
awk 'BEGIN{printf "%5s|%-5s|%05d|%x|%c|%%|%e\n","a","b",42,255,"hello",1.5}'
awk 'BEGIN{printf "%s %s\n", 1.0, 0.1+0.2}'
awk 'BEGIN{n=split("a:b:c",x,":"); print n, x[1], x[3]}'
awk 'BEGIN{n=split("a1b2c",x,/[0-9]/); print n, x[1], x[3]}'
awk 'BEGIN{n=split("",x); print n}'
awk 'BEGIN{n=split("  a b  ",x); print n, x[1]}'
awk 'BEGIN{n=split("a b",x,/ /); print n, x[2]}'
awk 'BEGIN{n=split("abc",x,""); print n, x[2]}'
awk 'BEGIN{print match("foobar",/o+/), RSTART, RLENGTH}'
awk 'BEGIN{print match("foobar",/z/), RSTART, RLENGTH}'
awk 'BEGIN{print index("abc","c"), int(3.9), int(-3.9), sqrt(16)}'
awk 'BEGIN{print !0, !1, !"", !"a"}'
awk 'BEGIN{if (!(3 in a)) print "no"; a[3]; if (3 in a) print "yes"}'
awk 'BEGIN{a[1,2]=3; print ((1,2) in a); delete a[1,2]; print ((1,2) in a)}'
awk 'BEGIN{x = 1 > 2 ? "a" : "b"; print x}'
awk 'BEGIN{print (1>2)?"a":"b"}'
awk 'BEGIN{exit 3} END{print "e"}'
awk 'BEGIN{printf "a\tb\n"}'
awk 'BEGIN{if(0)print 1;else print 2}'
awk 'BEGIN{if(1)print 1; else if (2) print 2; else print 3; print 4}'
awk 'BEGIN{for(;;){if(++i>3)break; if(i==2)continue; print i}}'
awk 'BEGIN{while(1){i++; if(i>2) break}; print i}'
awk 'BEGIN{x["k"]=1; for(k in x) print k, x[k]}'
awk 'BEGIN{print -3 % 2, 7 % 3}'
awk 'BEGIN{print 1,2 > "/dev/stdout"}'
awk 'BEGIN{print(1)(2)}'
awk 'BEGIN{print (1,2)}'
awk 'BEGIN{print "3abc"+4, ".5"+1, "1e2x"+0, "abc"+0}'
awk 'BEGIN{s=sprintf("%03d-%s",7,"x"); print s}'
awk 'BEGIN{s="abc"; gsub(/b/,"[&]",s); print s}'
awk 'BEGIN{s="aaa"; print gsub(/a/,"b",s) s}'
awk 'BEGIN{print toupper(substr("abc",1,1)) substr("abc",2)}'
awk 'BEGIN{print length()}'
awk 'BEGIN{a=b=3; print a b}'
awk 'BEGIN{print 1<2}'
awk 'BEGIN{print 5 - 3, 5 -3, 5-3}'
awk 'BEGIN{x=3; print x " " -x, x^-1}'
awk 'BEGIN{print 1;;print 2}'
awk 'BEGIN{a["x"]=1; delete a; print length(a)}'
awk 'BEGIN{print "a" > "/dev/stderr"; print "b"}'
awk 'BEGIN{printf "%i %5.1f|%-8s|%+d\n", 3.7, 2.25, "ab", 5}'
awk -v x='a\tb' 'BEGIN{print x}'
awk 'BEGIN{printf("%d %s\n", 5, "x")}'
awk 'BEGIN { x["a"]; if ("a" in x) print "in" }'
awk 'BEGIN{exit}'
""",
)
MODELLED += with_input(
    "a,1,foo\nb,22,bar\nc,3,foo baz\n",
    r"""
awk -F, '{print $2}'
awk 'BEGIN{FS=","} {print $2}'
""",
)
MODELLED += with_input(
    "abc",
    r"""
awk '{gsub(/x*/,"-"); print}'
awk '{gsub(/b*/,"X"); print}'
""",
)
MODELLED += with_input(
    "a\nb\n",
    r"""
awk 'END{print $0}'
awk '{printf "%s%s", sep, $1; sep=","} END{print ""}'
""",
)
MODELLED += with_input(
    "a|b\n",
    r"""
awk -F'|' '{print}'
awk -F'|' '{print $2}'
""",
)
MODELLED += with_input(
    "x\n",
    r"""
awk '{print "a", $1; print "b"}'
awk '{print $1;}'
awk '{print $1 > "/dev/stderr"; print NR}'
""",
)
MODELLED += [
    ('awk \'BEGIN { # comment\n  x = 1\n  if (x) {\n print "y"\n } else {\n print "n"\n }\n}\n\'', ""),
]
UNKNOWN = [
    ("awk '{print $1}' FS=:", "a:b"),
    ("awk '/a{2}/'", "aa\n"),
]
UNKNOWN += with_input(
    "alice 30 x\nbob 25 y\n\ncarol 7 z w\n",
    r"""
awk '{print substr($1,0,2)}'
awk 'function f(x){return x} {print f(1)}'
awk '{x[$1]} END{for(k in x) print k}'
awk 'BEGIN{getline; print}'
""",
)
UNKNOWN += with_input(
    "",
    r"""
awk 'BEGIN{print 2^10, 2**3, -2^2}'
awk 'BEGIN{print 1e6, 1e-5, 123456789, 0.1234567, 1e20}'
awk 'BEGIN{print 100000*100000, 3.0, 1234567.5}'
awk 'BEGIN{print substr("hello",2,100) substr("hello",-1,3)}'
awk 'BEGIN{print "a\\b\"c\/"}'
awk 'BEGIN{print(1,2)"x"}'
awk 'BEGIN{print 010+0, "0x11"+0}'
awk 'BEGIN{"date" | getline x}'
awk 'BEGIN{printf "%s\n"}'
awk 'BEGIN{print 1/0}'
awk 'BEGIN{print log(0)}'
awk 'BEGIN{print substr("hello", 1.5)}'
awk 'BEGIN{print 2147483648, 4294967296*2, 9007199254740992}'
awk 'BEGIN{print 0.1+0.2==0.3, 1e300*1e300}'
awk 'BEGIN{x[1]=1; x[2]=2; n=0; for (i in x) n+=x[i]; print n}'
awk
""",
)


def test_as_the_real_tools() -> None:
    check_commands(MODELLED)


def test_what_is_not_modelled_is_unknown() -> None:
    check_unknown(UNKNOWN)
