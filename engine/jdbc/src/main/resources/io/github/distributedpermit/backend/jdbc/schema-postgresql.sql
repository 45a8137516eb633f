-- Half of each page stays free, so that a changed row stays on its page and no index entry is written.
CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  epoch bigint NOT NULL,
  pool int NOT NULL,
  document text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) COLLATE "C" PRIMARY KEY,
  prefix varchar(64) COLLATE "C" NOT NULL,
  name varchar(500) NOT NULL,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  renewals bigint NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A crash or a promotion empties it: then records may be missing, and a grace begins.
CREATE UNLOGGED TABLE IF NOT EXISTS distributed_permit_epoch (
  prefix varchar(64) COLLATE "C" PRIMARY KEY,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  grace_ends bigint NOT NULL,
  server varchar(300) NOT NULL
);

-- For people: who holds and who waits, and until when their instances live. Behind the first two lines, a document has one line
-- for each instance.
CREATE OR REPLACE VIEW distributed_permit_holder AS
SELECT k.name AS permit_key,
       m.name AS instance,
       split_part(r.line, ' ', 2)::int AS permits,
       split_part(r.line, ' ', 5)::int AS wanted,
       split_part(r.line, ' ', 8)::int AS stated_limit,
       split_part(r.line, ' ', 9) <> '-' AS waits,
       to_timestamp(m.expires / 1000000.0) AS alive_until
FROM distributed_permit_key k
CROSS JOIN LATERAL regexp_split_to_table(k.document, E'\n') WITH ORDINALITY AS r(line, n)
JOIN distributed_permit_member m ON m.id = split_part(r.line, ' ', 1) AND m.epoch = k.epoch
WHERE r.n > 2;
