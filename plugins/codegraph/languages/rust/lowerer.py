"""Lowers a Rust file's items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import BASE, Bind, Expr, FileFacts, Import, Name, Param
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import last_name
from plugins.codegraph.languages.rust.attributes import Attributes, attributes
from plugins.codegraph.languages.rust.macros import Macros
from plugins.codegraph.languages.rust.uses import imports_of
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = frozenset({"struct_item", "enum_item", "union_item", "trait_item"})
_BODIES = frozenset({"declaration_list", "enum_variant_list"})


class Lowerer(Macros):
    """Lowers one file.

    Types come before functions among a module's definitions, since a type contains its methods
    wherever they are declared.
    """

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._types: dict[tuple[str, ...], int] = {}
        self._generics: list[tuple[str, Expr | None]] = []

    def lower(self, root: Node) -> FileFacts:
        """The facts of the file."""
        self.generated = b"@generated" in self.source[:2048]
        items, self.doc = attributes(self, root)
        self._items(items)
        return self.facts(root)

    def _items(self, items: list[tuple[Node, Attributes]]) -> None:
        if items and self.deeper(items[0][0]):
            return
        self.depth += 1
        for node, over in items:
            if node.type in _TYPES:
                self._declare(node, over)
        for node, over in items:
            if node.type in _TYPES:
                self._type_item(node, over)
            else:
                self._item(node, over)
        self.depth -= 1

    def item(self, node: Node) -> None:
        """Lower an item inside a function's body."""
        if node.type == "macro_invocation":
            self.evaluate(node)
        elif node.type in _TYPES:
            self._declare(node, Attributes())
            self._type_item(node, Attributes())
        else:
            self._item(node, Attributes())

    def _item(self, node: Node, over: Attributes) -> None:
        kind = node.type
        if kind in ("function_item", "function_signature_item"):
            self._function(node, over)
        elif kind == "impl_item":
            self._impl(node)
        elif kind == "mod_item":
            self._module(node, over)
        elif kind in ("use_declaration", "extern_crate_declaration"):
            self.scope.imports += imports_of(self, node)
        elif kind in ("const_item", "static_item"):
            self._constant(node, over)
        elif kind in ("type_item", "associated_type"):
            self._alias(node, over)
        elif kind in ("ERROR", "foreign_mod_item"):
            self._broken(node)

    def _broken(self, node: Node) -> None:
        for child in node.named_children:
            self._items(
                attributes(self, child)[0] if child.type in _BODIES else [(child, Attributes())]
            )

    def _placed(self, name: str) -> str:
        """The qualified name of an item in an inline module, or "" for other items."""
        return ".".join((*self.modules, name)) if self.modules and self.owner < 0 else ""

    def _declare(self, node: Node, over: Attributes) -> None:
        name = self.text_of(node, "name")
        if not name:
            return
        self.locals.hide(name)
        kind = EntityKind.INTERFACE if node.type == "trait_item" else EntityKind.CLASS
        number = self.define(
            kind,
            name,
            node,
            doc=over.doc,
            exported=_public(node),
            qualified=self._placed(name),
        )
        self._types[(*self.modules, name)] = number

    def _type_item(self, node: Node, over: Attributes) -> None:
        name = self.text_of(node, "name")
        number = self._types.get((*self.modules, name), -1)
        if number < 0:
            return
        with self.within("class", number, name):
            self.generic_scope(self.generics(node))
            self._derive(over.derived)
            body = node.child_by_field_name("body")
            if node.type == "trait_item":
                self._trait(node, body)
            elif node.type == "enum_item":
                self.scope.modifiers.append("enum")
                self._variants(name, body)
            elif body is not None:
                self.fields(body, define=True)

    def _derive(self, traits: tuple[str, ...]) -> None:
        """Add the functions that ``#[derive]`` generates, without definitions: only their results
        matter."""
        for trait, name in (("Default", "default"), ("Clone", "clone")):
            if trait in traits:
                with self.within("function", -1, name):
                    self.scope.params += [Param("self")] if name == "clone" else []
                    self.scope.returns = Name("Self")

    def fields(self, body: Node, *, define: bool) -> None:
        """Lower the fields of a struct or a variant."""
        if body.type == "ordered_field_declaration_list":
            for at, part in enumerate(body.children_by_field_name("type")):
                self.scope.binds.append(Bind(Name(f".{at}"), None, self.type(part)))
            return
        for field, over in attributes(self, body)[0]:
            name = self.text_of(field, "name")
            if field.type != "field_declaration" or not name:
                continue
            if define:
                public = _public(field)
                self.define(EntityKind.VARIABLE, name, field, doc=over.doc, exported=public)
            of = self.type(field.child_by_field_name("type"))
            line = field.start_point[0] + self.row
            self.scope.binds.append(Bind(Name(f".{name}"), None, of, line))

    def _variants(self, enum: str, body: Node | None) -> None:
        for variant, over in attributes(self, body)[0] if body is not None else []:
            name = self.text_of(variant, "name")
            if variant.type != "enum_variant" or not name:
                continue
            self.define(EntityKind.VARIABLE, name, variant, doc=over.doc)
            inner = variant.child_by_field_name("body")
            # A scope without a definition: patterns read the variant's fields from it.
            with self.within("class", -1, name):
                if inner is not None:
                    self.fields(inner, define=False)

    def _trait(self, node: Node, body: Node | None) -> None:
        self.scope.modifiers += ["interface", "abstract"]
        for bound in children(node, "bounds"):
            of = self.typed(bound, BASE) if bound.type != "lifetime" else None
            if of is not None:
                self.scope.bases.append(of)
        outer, self._generics = self._generics, self.generics(node)
        self._items(attributes(self, body)[0] if body is not None else [])
        self._generics = outer

    def _impl(self, node: Node) -> None:
        of = self.typed(node.child_by_field_name("type"), BASE)
        trait = node.child_by_field_name("trait")
        name = last_name(of)
        number = self._types.get((*self.modules, name), -1)
        with self.within("class", -1, ""):
            self.owner = number
            self.scope.receiver = of
            if trait is not None:
                self.scope.implements.append(self.typed(trait, BASE))
            outer, self._generics = self._generics, self.generics(node)
            self.generic_scope(self._generics)
            self._outside = name if number < 0 else ""
            body = node.child_by_field_name("body")
            self._items(attributes(self, body)[0] if body is not None else [])
            self._outside = ""
            self._generics = outer

    _outside = ""
    """The type of the current ``impl`` if another file defines it, else ""."""

    def _function(self, node: Node, over: Attributes) -> None:
        name = self.text_of(node, "name")
        method = self.scope.kind == "class" and not self._in_module()
        self.locals.clear()
        kind = EntityKind.METHOD if method else EntityKind.FUNCTION
        qualified = ".".join((*self.modules, self._outside, name)) if self._outside else ""
        qualified = qualified or self._placed(name)
        number = self.define(
            kind,
            name,
            node,
            signature=self.between(node, "parameters", "return_type"),
            doc=over.doc,
            exported=_public(node) or self._of_trait(),
            test=over.test,
            qualified=qualified,
        )
        with self.within("function", number, name):
            inherited, self._outside = self._outside, ""
            generics = self._generics if method else []
            with self.locals:
                self.generic_scope([*generics, *self.generics(node)])
                self._body(node)
            self._outside = inherited

    def _body(self, node: Node) -> None:
        self.parameters(node.child_by_field_name("parameters"))
        if not any(param.name == "self" for param in self.scope.params[:1]):
            self.scope.modifiers.append("static")
        self.scope.returns = self.type(node.child_by_field_name("return_type"))
        if any("async" in self.text(c) for c in node.children if c.type == "function_modifiers"):
            self.scope.modifiers.append("async")
        body = node.child_by_field_name("body")
        if body is not None:
            self.give(self.block(body))

    def _in_module(self) -> bool:
        return bool(self.modules) and self.scope.name == self.modules[-1] and self._is_namespace()

    def _is_namespace(self) -> bool:
        return "namespace" in self.scope.modifiers

    def _of_trait(self) -> bool:
        return "interface" in self.scope.modifiers or bool(self.scope.implements)

    def _module(self, node: Node, over: Attributes) -> None:
        name, body = self.text_of(node, "name"), node.child_by_field_name("body")
        if body is None:
            module = f"path:{over.path}" if over.path else "::".join(["self", *self.modules, name])
            line = node.start_point[0] + self.row
            self.scope.imports.append(Import(name, module, line=line))
            return
        with self.within("class", -1, name):
            self.scope.modifiers.append("namespace")
            self.modules.append(name)
            outer, self._generics = self._generics, []
            self._items(attributes(self, body)[0])
            self._generics = outer
            self.modules.pop()

    def _constant(self, node: Node, over: Attributes) -> None:
        name = self.text_of(node, "name")
        within = self.scope.kind != "function"
        if within:
            self.locals.clear()
            if name != "_":
                self._variable(name, node, over)
        of = self.type(node.child_by_field_name("type"))
        value = self.expr(node.child_by_field_name("value"))
        line = node.start_point[0] + self.row
        named = node.child_by_field_name("name")
        given = name if within or named is None else self.local(named)
        self.scope.binds.append(Bind(Name(given), value, of, line))

    def _variable(self, name: str, node: Node, over: Attributes) -> None:
        self.define(
            EntityKind.VARIABLE,
            name,
            node,
            doc=over.doc,
            exported=_public(node),
            qualified=self._placed(name),
        )

    def _alias(self, node: Node, over: Attributes) -> None:
        name, of = self.text_of(node, "name"), self.type(node.child_by_field_name("type"))
        if self.scope.kind == "file" or self._is_namespace():
            self._variable(name, node, over)
        if of is not None:
            self.scope.binds.append(Bind(Name(name), of, None, node.start_point[0] + self.row))


def _public(node: Node) -> bool:
    first = node.children[0] if node.child_count else None
    return first is not None and first.type == "visibility_modifier"
