"""Lowers a Java file's declarations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    RAISED,
    Bind,
    Call,
    Expr,
    FileFacts,
    Import,
    Item,
    Name,
    Param,
    Typed,
)
from plugins.codegraph.languages.builder import MAX_DOC_LENGTH, children
from plugins.codegraph.languages.java.expressions import CONSTRUCTOR
from plugins.codegraph.languages.java.statements import CLASSES, Statements
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_MARKS = re.compile(r"^[ \t]*(/\*\*|\*(?!/)) ?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_TEST = re.compile(r"@(\w+\.)*(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b")
_FUNCTIONS = ("method_declaration", "annotation_type_element_declaration")
_CONSTRUCTORS = ("constructor_declaration", "compact_constructor_declaration")
_INTERFACES = ("interface_declaration", "annotation_type_declaration")
Doc = tuple[str, int] | None


class Lowerer(Statements):
    """Lowers one file."""

    def lower(self, root: Node) -> FileFacts:
        """The facts of the file."""
        self.generated = b"@Generated" in self.source[:4096] or b"DO NOT EDIT" in self.source[:1024]
        self._top(root)
        return self.facts(root)

    def _top(self, root: Node) -> None:
        doc: Doc = None
        for node in root.children:
            kind = node.type
            if kind == "package_declaration":
                self.package = self._dotted(node.named_children[-1])
                self.doc = doc[0] if doc else ""
            elif kind == "import_declaration":
                self._import(node)
            elif kind in CLASSES:
                self._class(node, doc)
            elif kind == "ERROR" and not self.deeper(node):
                self.depth += 1
                self._top(node)
                self.depth -= 1
            doc = self._doc(node) if kind == "block_comment" else None

    def _dotted(self, node: Node) -> str:
        return "".join(self.text(node).split())

    def _doc(self, node: Node) -> Doc:
        text = self.text(node)
        if not text.startswith("/**"):
            return None
        return _MARKS.sub("", text).strip()[:MAX_DOC_LENGTH], node.start_byte

    def _import(self, node: Node) -> None:
        names = [c for c in node.named_children if c.type in ("scoped_identifier", "identifier")]
        if not names:
            return
        path, line = self._dotted(names[0]), node.start_point[0] + 1
        static = "static:" if any(child.type == "static" for child in node.children) else ""
        if any(child.type == "asterisk" for child in node.children):
            self.scope.imports.append(Import("", static + path, "*", line=line))
            return
        module, _, name = path.rpartition(".")
        self.scope.imports.append(Import(name, static + module, name, line=line))

    def declaration(self, node: Node) -> None:
        """Lower a class declared inside a body."""
        self._class(node, None)

    def _class(self, node: Node, doc: Doc) -> None:
        name = self.text_of(node, "name")
        if not name:
            return
        kind = EntityKind.INTERFACE if node.type in _INTERFACES else EntityKind.CLASS
        if self.scope.kind == "function":
            self.locals.hide(name)
        public = not self._modified(node, "private")
        number = self.define(kind, name, node, doc=doc, exported=public)
        with self.within("class", number, name):
            self.annotations(node)
            self.typevars(node)
            self._bases(node)
            with self.locals:
                if node.type == "record_declaration":
                    self._record(node)
                body = node.child_by_field_name("body")
                if body is not None:
                    self.members(body)

    def _bases(self, node: Node) -> None:
        if node.type in _INTERFACES:
            self.scope.modifiers += ["interface", "abstract"]
        if node.type == "enum_declaration":
            self.scope.modifiers.append("enum")
            own = Name(self.scope.name)
            self._written("values", Item(Name("[]"), None, (own,)), 0)
            self._written("valueOf", own, 1)
            for name in ("ordinal", "name", "compareTo"):
                self._written(name, None, int(name == "compareTo"))
        self.scope.bases += self.listed(node.child_by_field_name("superclass"))
        self.scope.implements += self.listed(node.child_by_field_name("interfaces"))
        for child in node.children:
            if child.type == "extends_interfaces":
                self.scope.bases += self.listed(child)
            elif child.type == "permits":
                self.listed(child, AS_TYPE)

    def _record(self, node: Node) -> None:
        members = children(node, "body")
        own = {self.text_of(each, "name") for each in members if each.type == "method_declaration"}
        for child in children(node, "parameters"):
            name = self.text_of(child, "name")
            if not name:
                continue
            of = self.type(child.child_by_field_name("type"))
            self._variable(name, child, of, None, exported=True)
            if name not in own:
                self._written(name, of, 0)

    def _written(self, name: str, of: Expr | None, params: int) -> None:
        """Add a function that the compiler generates: a record's accessor, an enum's ``values``."""
        with self.within("function", -1, name):
            self.scope.params += [Param(f"#{place}") for place in range(params)]
            self.scope.returns = of

    def _variable(
        self, name: str, node: Node, of: Expr | None, value: Expr | None, *, exported: bool
    ) -> None:
        if self.scope.definition >= 0:
            self.define(EntityKind.VARIABLE, name, node, exported=exported)
        bind = Bind(Name(f".{name}"), value, of, node.start_point[0] + 1)
        self.scope.binds.append(bind)

    def members(self, node: Node) -> None:
        """Lower the members of a class."""
        if self.deeper(node):
            return
        self.depth += 1
        for child in node.named_children:
            if child.type == "field_declaration":
                for declarator in child.children_by_field_name("declarator"):
                    self.locals.forget(self.text_of(declarator, "name"))
        doc: Doc = None
        for child in node.children:
            self._member(child, doc)
            doc = self._doc(child) if child.type == "block_comment" else None
        self.depth -= 1

    def _member(self, node: Node, doc: Doc) -> None:
        kind = node.type
        if kind in _FUNCTIONS or kind in _CONSTRUCTORS:
            self._function(node, doc)
        elif kind in ("field_declaration", "constant_declaration"):
            self._fields(node)
        elif kind in CLASSES:
            self._class(node, doc)
        elif kind == "enum_constant":
            self._constant(node)
        elif kind in ("static_initializer", "block"):
            self.run(node)
        elif kind in ("enum_body_declarations", "ERROR"):
            self.members(node)

    def _fields(self, node: Node) -> None:
        self.annotations(node)
        of = self.type(node.child_by_field_name("type"))
        public = not self._modified(node, "private")
        for declarator in node.children_by_field_name("declarator"):
            name, value = self.declarator(declarator)
            stated = self.array(of, declarator)
            self._variable(name, declarator, stated, value, exported=public)

    def _constant(self, node: Node) -> None:
        name = self.text_of(node, "name")
        owner = Name(self.scope.name)
        self._variable(name, node, None, Typed(owner), exported=True)
        arguments = node.child_by_field_name("arguments")
        call: Expr | None = None
        if arguments is not None:
            self.counted += 1
            args = self._arguments(arguments)
            call = Call(owner, args, node.start_point[0] + 1, True)
        body = node.child_by_field_name("body")
        value = self.anonymous(body, owner, call) if body is not None else call
        if value is not None:
            self.scope.calls.append(value)

    def _function(self, node: Node, doc: Doc) -> None:
        maker = node.type in _CONSTRUCTORS
        name = self.text_of(node, "name")
        number = -1
        if self.scope.definition >= 0:
            number = self.define(
                EntityKind.METHOD,
                name,
                node,
                signature=self._signature(node, name),
                doc=doc,
                exported=not self._modified(node, "private"),
                test=self._is_test(node, name),
            )
        record = self.scope
        with self.within("function", number, CONSTRUCTOR if maker else name):
            self._receiver(node, maker=maker)
            with self.locals:
                self.annotations(node)
                self.typevars(node)
                self._throws(node)
                if node.type == "compact_constructor_declaration":
                    self._compact(record.binds)
                self.parameters(node.child_by_field_name("parameters"))
                if not maker:
                    stated = self.type(node.child_by_field_name("type"))
                    self.scope.returns = self.array(stated, node)
                body = node.child_by_field_name("body")
                if body is not None:
                    self.block(body)
                else:
                    self.scope.modifiers.append("abstract")

    def _receiver(self, node: Node, *, maker: bool) -> None:
        if self._modified(node, "static"):
            self.scope.modifiers.append("static")
        elif not maker:
            self.scope.params.append(Param("this"))

    def _throws(self, node: Node) -> None:
        for child in node.children:
            for each in child.named_children if child.type == "throws" else ():
                self.typed(each, RAISED)

    def _compact(self, binds: list[Bind]) -> None:
        """The parameters of a record's compact constructor are its components."""
        for bind in binds:
            if isinstance(bind.target, Name) and bind.target.id.startswith("."):
                name = self.locals.declare(bind.target.id[1:])
                self.scope.params.append(Param(name, bind.type))

    def _modifiers(self, node: Node) -> Node | None:
        first = node.children[0] if node.child_count else None
        return first if first is not None and first.type == "modifiers" else None

    def _modified(self, node: Node, word: str) -> bool:
        modifiers = self._modifiers(node)
        return modifiers is not None and any(child.type == word for child in modifiers.children)

    def _is_test(self, node: Node, name: str) -> bool:
        modifiers = self._modifiers(node)
        if modifiers is not None and _TEST.search(self.text(modifiers)):
            return True
        # JUnit 3: by name, in a class that is a TestCase.
        case = any(isinstance(b, Name) and b.id == "TestCase" for b in self.scope.bases)
        return case and name.startswith("test")

    def _signature(self, node: Node, name: str) -> str:
        of = self.text_of(node, "type")
        return f"{of}{' ' if of else ''}{name}{self.text_of(node, 'parameters')}"
