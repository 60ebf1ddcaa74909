"""Lowers a Go file's declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import BASE, Bind, FileFacts, Import, Item, Name, Param
from plugins.codegraph.languages.builder import MAX_DOC_LENGTH, children
from plugins.codegraph.languages.expressions import last_name
from plugins.codegraph.languages.go.conventions import (
    default_name,
    is_exported,
    is_generated,
    is_test,
    uncommented,
)
from plugins.codegraph.languages.go.statements import Statements
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

Doc = tuple[str, int] | None


class Lowerer(Statements):
    """Lowers one file.

    Types come before functions among the definitions, since a type contains its methods wherever
    they are declared.
    """

    def lower(self, root: Node) -> FileFacts:
        """The facts of the file."""
        self.generated = is_generated(self.source)
        declared = self._declarations(root)
        self._methods: dict[str, int] = {}
        for node, doc in declared:
            if node.type == "import_declaration":
                self._imports(node)
            elif node.type == "type_declaration":
                self.locals.clear()
                self._typed(node, doc)
        for node, doc in declared:
            if node.type in ("function_declaration", "method_declaration"):
                self._function(node, doc)
            elif node.type in ("var_declaration", "const_declaration"):
                self._variables(node, doc)
        return self.facts(root)

    def _declarations(self, root: Node) -> list[tuple[Node, Doc]]:
        found: list[tuple[Node, Doc]] = []
        for node, doc in self.documented(root):
            if node.type == "package_clause":
                self.package = (
                    self.noted_local(node.named_children[0]) if node.named_children else ""
                )
                self.doc = doc[0] if doc else ""
            elif node.type == "ERROR":
                found += self.documented(node)
            else:
                found.append((node, doc))
        return found

    def documented(self, node: Node) -> list[tuple[Node, Doc]]:
        """The named children of a node, each with the comments directly above it."""
        found: list[tuple[Node, Doc]] = []
        first: Node | None = None
        last = -2
        for child in node.children:
            if not child.is_named:
                continue
            row = child.start_point[0]
            if child.type == "comment":
                first = child if first is None or row > last + 1 else first
                last = child.end_point[0]
                continue
            doc: Doc = None
            if first is not None and row == last + 1:
                text = self.source[first.start_byte : child.start_byte].decode("utf-8", "replace")
                doc = (uncommented(text)[:MAX_DOC_LENGTH], first.start_byte)
            found.append((child, doc))
            first = None
        return found

    def _imports(self, node: Node) -> None:
        specs = [n for n in node.named_children if n.type == "import_spec"]
        for group in node.named_children:
            if group.type == "import_spec_list":
                specs += [n for n in group.named_children if n.type == "import_spec"]
        for spec in specs:
            path = spec.child_by_field_name("path")
            module = self.text(path)[1:-1] if path is not None else ""
            alias, symbol = default_name(module), ""
            name = spec.child_by_field_name("name")
            if name is not None:
                alias = self.text(name)
                symbol = "*" if alias == "." else ""
                alias = "" if alias in (".", "_") else alias
            line = spec.start_point[0] + 1
            self.scope.imports.append(Import(alias, module, symbol, line=line))

    def types(self, node: Node) -> None:
        """Lower types declared inside a function."""
        self._typed(node, None)

    def _typed(self, node: Node, doc: Doc) -> None:
        for spec, own in self.documented(node):
            if spec.type == "type_alias":
                self._alias(spec, own or doc)
            elif spec.type == "type_spec":
                self._type_spec(spec, own or doc)

    def _alias(self, node: Node, doc: Doc) -> None:
        name = self.text_of(node, "name")
        of = self.type(node.child_by_field_name("type"))
        self.locals.hide(name)
        self._variable(name, node, doc)
        self.scope.binds.append(Bind(Name(name), of, None, node.start_point[0] + 1))

    def _type_spec(self, node: Node, doc: Doc) -> None:
        name, of = self.text_of(node, "name"), node.child_by_field_name("type")
        if not name or of is None:
            return
        self.locals.hide(name)
        kind = EntityKind.INTERFACE if of.type == "interface_type" else EntityKind.CLASS
        number = self.define(kind, name, node, doc=doc, exported=is_exported(name))
        if self.owner < 0:
            self._methods.setdefault(name, number)
        with self.within("class", number, name):
            self.typevars(node)
            if of.type == "struct_type":
                self._struct(of)
            elif of.type == "interface_type":
                self.scope.modifiers += ["interface", "abstract"]
                self._interface(of)
            else:
                self._underlying(of)

    def _underlying(self, of: Node) -> None:
        # ``type Handler func(...)`` and ``type List []T`` behave like the underlying type, but
        # have none of its methods.
        under = self.type(of)
        if isinstance(under, Item):
            self.scope.bases.append(under)

    def _struct(self, node: Node) -> None:
        for fields in node.named_children:
            for field, doc in self.documented(fields):
                if field.type == "field_declaration":
                    self._field(field, doc)

    def _field(self, field: Node, doc: Doc) -> None:
        of = self.type(field.child_by_field_name("type"))
        names = [self.text(name) for name in field.children_by_field_name("name")]
        if not names:
            self.scope.bases.append(of)
            names = [name for name in (last_name(of),) if name]
        for name in names:
            self._variable(name, field, doc)
            line = field.start_point[0] + 1
            self.scope.binds.append(Bind(Name(name), None, of, line))

    def _interface(self, node: Node) -> None:
        for child, doc in self.documented(node):
            if child.type == "method_elem":
                name = self.text_of(child, "name")
                number = self._method(name, child, doc)
                with self.within("function", number, name):
                    self.scope.modifiers.append("abstract")
                    self.scope.params += self.params(child.child_by_field_name("parameters"))
                    self.scope.returns = self.result(child)
            elif child.type == "type_elem" and child.named_child_count == 1:
                base = self.type(child)
                if base is not None:
                    self.scope.bases.append(base)

    def _method(self, name: str, node: Node, doc: Doc) -> int:
        return self.define(
            EntityKind.METHOD,
            name,
            node,
            signature=self.between(node, "parameters", "result"),
            doc=doc,
            exported=is_exported(name),
        )

    def _function(self, node: Node, doc: Doc) -> None:
        self.locals.clear()
        name, of = self.text_of(node, "name"), self._receiver(node)
        owner = last_name(of.type) if of is not None else ""
        signature = self.between(node, "parameters", "result")
        number = self.define(
            EntityKind.METHOD if of is not None else EntityKind.FUNCTION,
            name,
            node,
            signature=signature,
            doc=doc,
            exported=is_exported(name),
            test=of is None and is_test(name, signature, self.package),
            qualified=f"{owner}.{name}" if owner else name,
            parent=self._methods.get(owner, -1) if owner else -1,
        )
        with self.within("function", number, name), self.locals:
            self._signed(node, of)
            body = node.child_by_field_name("body")
            if body is not None:
                self.each(body)

    def _signed(self, node: Node, of: Param | None) -> None:
        self.typevars(node)
        if of is not None:
            receiver = of.type
            if isinstance(receiver, Item):
                vars_ = (arg.id for arg in receiver.args if isinstance(arg, Name))
                self.scope.modifiers += [f"typevar:{name}" for name in vars_]
                receiver = receiver.of
            self.scope.receiver = receiver
            self.scope.params.append(Param(self._own(of.name), receiver))
        self.scope.params += self.declared(node)
        self.scope.returns = self.result(node)

    def _receiver(self, node: Node) -> Param | None:
        given = node.child_by_field_name("receiver")
        found: Param | None = None
        for child in children(given):
            if child.type == "parameter_declaration" and found is None:
                of = self.typed(child.child_by_field_name("type"), BASE)
                name = child.child_by_field_name("name")
                found = Param("" if name is None else self.noted_local(name), of)
        return found

    def _variables(self, node: Node, doc: Doc) -> None:
        self.locals.clear()
        specs = self.documented(node)
        for group in node.named_children:
            if group.type == "var_spec_list":
                specs += self.documented(group)
        for spec, own in specs:
            if spec.type not in ("var_spec", "const_spec"):
                continue
            for name in spec.children_by_field_name("name"):
                if name.type == "identifier" and self.text(name) != "_":
                    self._variable(self.text(name), spec, own or doc)
            self._var(spec)
        self.locals.clear()

    def _variable(self, name: str, node: Node, doc: Doc) -> None:
        if name and name != "_" and self.scope.kind != "function":
            self.define(EntityKind.VARIABLE, name, node, doc=doc, exported=is_exported(name))
