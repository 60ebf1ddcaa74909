"""How the embedded vector store is set: halves of floats, and short codes for large collections.

Each vector has a code of two bits a number beside it (TurboQuant). In a large collection a search
compares all the codes first, and then the real vectors of the nearest: 4 ms of processor for
100,000 documents' passages instead of 14. The codes are made as points are written, so that nothing
is built, and nothing waits for it. Of the 10 nearest of 60,000 passages to 80 questions all were
found so, and of the 50 nearest 999 of 1,000; by one bit a number 995 and 964.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.contract.services import CollectionSpec

if TYPE_CHECKING:
    from qdrant_edge import EdgeConfig, SearchParams

APPROXIMATE_POINTS = 20_000
"""Points from which a search compares codes first; a smaller collection is searched exactly."""
OVERSAMPLING = 8.0
"""So many times more vectors than are asked for are compared whole."""
NEVER_KILOBYTES = 1_000_000_000
"""A size of vectors that is never reached, above which a graph index would be built."""


def config(spec: CollectionSpec) -> EdgeConfig:
    """The settings of a shard.

    Args:
        spec: what its collection holds.
    """
    import qdrant_edge as edge

    sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    # A search reads every vector, so half the bytes are a quarter less time; of 80 nearest among
    # 100,000, one in a thousand is another one.
    halved = edge.VectorStorageDatatype.Float16
    # Mapped and read as it is asked for: read in at the start, each vector of a small collection
    # would hold a chunk of 32 MiB.
    cold = edge.Memory.Cold
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(size, edge.Distance.Cosine, datatype=halved, memory=cold)
            for name, size in spec.dense.items()
        },
        sparse_vectors=dict.fromkeys(spec.sparse, sparse),
        quantization_config=edge.TurboQuantQuantizationConfig(
            bits=edge.TurboQuantBitSize.Bits2, memory=edge.Memory.Cached
        ),
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=NEVER_KILOBYTES, deleted_threshold=0.5
        ),
    )


def search_params(points: int) -> SearchParams:
    """How dense vectors are compared.

    Args:
        points: how many points there are.
    """
    from qdrant_edge import QuantizationSearchParams, SearchParams

    exact = points < APPROXIMATE_POINTS
    codes = QuantizationSearchParams(ignore=exact, rescore=True, oversampling=OVERSAMPLING)
    return SearchParams(quantization=codes)
