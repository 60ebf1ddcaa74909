-- What SQLite keeps in an index for each layer; see store/fulltext.py.
INSERT INTO codegraph_words (id, layer, org, repo, words)
SELECT id, layer, org, repo, array_to_tsvector(ARRAY['#' || layer])
    || setweight(to_tsvector('english', name || ' ' || words), 'A')
    || setweight(to_tsvector('english', signature), 'B')
    || setweight(to_tsvector('english', doc), 'D')
FROM codegraph_entities;
