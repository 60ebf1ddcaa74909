"""Random small Python programs: files that import, call, pass and inherit from each other."""

from __future__ import annotations

from hypothesis import strategies as st

_FILES = 4
_NAMES = ["a", "b", "c"]


def _reference(draw: st.DrawFn, own: int) -> str:
    file = draw(st.integers(0, _FILES - 1))
    name = draw(st.sampled_from(_NAMES))
    return f"f_{name}" if file == own else f"m{file}.f_{name}"


def _expression(draw: st.DrawFn, own: int, params: list[str], depth: int = 0) -> str:
    kind = draw(st.integers(0, 9 if depth < 2 else 3))
    if kind <= 1:
        return draw(st.sampled_from([*params, "None"]))
    if kind <= 3:
        return _reference(draw, own)
    inner = _expression(draw, own, params, depth + 1)
    if kind <= 5:
        return f"{inner}({_expression(draw, own, params, depth + 1)})"
    if kind == 6:
        return f"{_klass(draw, own)}({inner}).m_{draw(st.sampled_from(_NAMES))}({inner})"
    if kind == 7:
        return f"[{inner}, {_expression(draw, own, params, depth + 1)}][0]"
    if kind == 8:
        return f"({inner} or {_expression(draw, own, params, depth + 1)})"
    return f"{inner}.held"


def _klass(draw: st.DrawFn, own: int) -> str:
    file = draw(st.integers(0, _FILES - 1))
    name = draw(st.sampled_from(["C", "D"]))
    return name if file == own else f"m{file}.{name}"


@st.composite
def programs(draw: st.DrawFn) -> dict[str, bytes]:
    """Files by path."""
    files = {}
    for own in range(_FILES):
        lines = [f"import m{other}" for other in range(_FILES) if other != own]
        for name in _NAMES:
            decorator = draw(st.sampled_from(["", "", f"@{_reference(draw, own)}\n"]))
            lines.append(f"{decorator}def f_{name}(x, y=None):")
            lines.append(f"    z = {_expression(draw, own, ['x', 'y'])}")
            lines.append(f"    return {_expression(draw, own, ['x', 'y', 'z'])}")
        for name in ("C", "D"):
            lines.append(f"class {name}({draw(st.sampled_from(['object', _klass(draw, own)]))}):")
            lines.append("    def __init__(self, held):")
            lines.append(f"        self.held = {_expression(draw, own, ['held', 'self'])}")
            for method in draw(st.lists(st.sampled_from(_NAMES), max_size=2, unique=True)):
                lines.append(f"    def m_{method}(self, x):")
                lines.append(f"        return {_expression(draw, own, ['x', 'self', 'self.held'])}")
        lines.append(_expression(draw, own, ["None"]))
        files[f"m{own}.py"] = ("\n".join(lines) + "\n").encode()
    return files
