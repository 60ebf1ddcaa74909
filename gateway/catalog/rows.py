"""Which tier a row asks for, as a plugin is told."""

from __future__ import annotations

from dataclasses import dataclass

from auth import Tier
from gateway.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True)
class CatalogRows:
    """A plugin's rows, as the catalog decides them (``gateway.contract.rows.Rows``)."""

    catalog: Catalog
    plugin: str

    @property
    def version(self) -> int:
        """The catalog's."""
        return self.catalog.version

    @property
    def ruled(self) -> bool:
        """Whether any line may raise a row of the plugin's."""
        return self.catalog.names_rows(self.plugin)

    def tier(self, row: str, own: Tier = Tier.OPEN) -> Tier:
        """The tier below which a row is not there."""
        return self.catalog.row_tier(self.plugin, row, own)
