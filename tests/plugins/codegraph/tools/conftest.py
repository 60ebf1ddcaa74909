"""A small shop in TypeScript, indexed once for all tests that only read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.plugins.codegraph.portal import WordsModel, World, world

SHOP = {
    "src/cart.ts": b"""import { price, Discount } from "./pricing";

/** A shopping cart. It belongs to one customer. */
export class Cart {
  constructor(private discount: Discount) {}

  /** What all of it costs. */
  total(): number {
    return this.discount.apply(price(1)) + price(2);
  }
}

export function checkout(cart: Cart): number {
  return cart.total();
}
""",
    "src/pricing.ts": b"""/** What a thing costs, in cents. */
export function price(id: number): number {
  return id * 100;
}

export interface Discount {
  apply(cents: number): number;
}

export class Half implements Discount {
  apply(cents: number): number {
    return cents / 2;
  }
}
""",
    "src/app.ts": b"""import { Cart, checkout } from "./cart";
import { Half } from "./pricing";

export function main(): number {
  return checkout(new Cart(new Half()));
}

export function handle(request: any): void {
  request.apply(1);
}
""",
    "test/cart.test.ts": b"""import { checkout, Cart } from "../src/cart";
import { Half } from "../src/pricing";

export function testCheckout(): void {
  checkout(new Cart(new Half()));
}
""",
    "src/many.ts": b"""import { price } from "./pricing";
"""
    + b"".join(
        b"export function use%d(): number { return price(%d); }\n" % (n, n) for n in range(30)
    ),
}


@pytest.fixture
async def shop(tmp_path: Path, codegraph_file: Path) -> AsyncIterator[World]:
    async with world(tmp_path, WordsModel(), codegraph_file) as made:
        await made.index("shop", SHOP)
        yield made
