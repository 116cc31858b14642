// Runs before anything is drawn: the theme that was chosen last.
try {
  const theme = localStorage.getItem("botlint-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing is stored for this page.
}
