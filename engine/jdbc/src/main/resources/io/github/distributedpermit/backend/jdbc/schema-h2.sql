CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  epoch bigint NOT NULL,
  pool int NOT NULL,
  document varchar NOT NULL
);

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) PRIMARY KEY,
  prefix varchar(64) NOT NULL,
  name varchar(500) NOT NULL,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  renewals bigint NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
);

CREATE TABLE IF NOT EXISTS distributed_permit_epoch (
  prefix varchar(64) PRIMARY KEY,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  grace_ends bigint NOT NULL,
  server varchar(300) NOT NULL
);

-- For people: who holds and who waits, and until when their instances live. Behind the first two lines, a document has one line
-- for each instance.
CREATE OR REPLACE VIEW distributed_permit_holder AS
SELECT r.permit_key,
       m.name AS instance,
       CAST(REGEXP_SUBSTR(r.line, '[^ ]+', 1, 2) AS int) AS permits,
       CAST(REGEXP_SUBSTR(r.line, '[^ ]+', 1, 5) AS int) AS wanted,
       CAST(REGEXP_SUBSTR(r.line, '[^ ]+', 1, 8) AS int) AS stated_limit,
       REGEXP_SUBSTR(r.line, '[^ ]+', 1, 9) <> '-' AS waits,
       DATEADD('MICROSECOND', m.expires, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00') AS alive_until
FROM (SELECT k.name AS permit_key, k.epoch, REGEXP_SUBSTR(k.document, '[^\n]+', 1, CAST(n.x AS int)) AS line
      FROM distributed_permit_key k CROSS JOIN SYSTEM_RANGE(3, 200) n) r
JOIN distributed_permit_member m ON m.id = REGEXP_SUBSTR(r.line, '[^ ]+', 1, 1) AND m.epoch = r.epoch;
