"""Makes a line smaller for as long as it still differs at the same place."""


def smaller(line) -> list:
    """The lines that are one step smaller, those that leave out most first."""
    out = []
    if line.tail:
        out.append(line.copy(tail=[]))
    if line.faithful:
        out.append(line.copy(faithful=False))
    kept = {k: v for k, v in line.server.items() if k in ("repository", "kind")}  # models are not features
    if len(line.server) > len(kept) + 1:
        out.append(line.copy(server=kept))
    half = len(line.flags) // 2
    if half > 1:
        out += [line.copy(flags=line.flags[:half]), line.copy(flags=line.flags[half:])]
    for i in range(len(line.tail)):
        out.append(line.copy(tail=line.tail[:i] + line.tail[i + 1:]))
    for name in [n for n in line.server if n not in kept]:
        out.append(line.copy(server={k: v for k, v in line.server.items() if k != name}))
    for i in reversed(range(len(line.flags))):
        out.append(line.copy(flags=line.flags[:i] + line.flags[i + 1:]))
    for name, text in line.files.items():
        if not any(name in str(w) for w in line.words()):
            out.insert(0, line.copy(files={k: v for k, v in line.files.items() if k != name}))
        rows = text.splitlines(keepends=True)
        if len(rows) > 2:
            out.append(line.copy(files={**line.files, name: "".join(rows[:len(rows) // 2])}))
    return out


def shrink(line, place: str, differs, tries: int = 40):
    """The smallest line found. `differs` runs a line and returns the places that differ."""
    again = True
    while again and tries > 0:
        again = False
        for candidate in smaller(line):
            if tries <= 0:
                break
            tries -= 1
            if place in differs(candidate):
                line, again = candidate, True
                break
    return line
