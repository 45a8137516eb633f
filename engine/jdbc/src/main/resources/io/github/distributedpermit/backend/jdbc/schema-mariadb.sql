CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  epoch bigint NOT NULL,
  pool int NOT NULL,
  document mediumtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  prefix varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name varchar(500) CHARACTER SET utf8mb4 NOT NULL,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  renewals bigint NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS distributed_permit_epoch (
  prefix varchar(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  epoch bigint NOT NULL,
  lease bigint NOT NULL,
  grace_ends bigint NOT NULL,
  server varchar(300) CHARACTER SET utf8mb4 NOT NULL
) ENGINE = InnoDB;

-- For people: who holds and who waits, and until when their instances live. Behind the first two lines, a document has one line
-- for each instance.
CREATE OR REPLACE VIEW distributed_permit_holder AS
SELECT k.name AS permit_key,
       m.name AS instance,
       CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(r.line, ' ', 2), ' ', -1) AS SIGNED) AS permits,
       CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(r.line, ' ', 5), ' ', -1) AS SIGNED) AS wanted,
       CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(r.line, ' ', 8), ' ', -1) AS SIGNED) AS stated_limit,
       SUBSTRING_INDEX(SUBSTRING_INDEX(r.line, ' ', 9), ' ', -1) <> '-' AS waits,
       FROM_UNIXTIME(m.expires / 1000000) AS alive_until
FROM distributed_permit_key k
JOIN JSON_TABLE(
       CONCAT('["', REPLACE(k.document, '\n', '","'), '"]'),
       '$[*]' COLUMNS (n FOR ORDINALITY, line varchar(500) PATH '$')) r
JOIN distributed_permit_member m ON m.id = SUBSTRING_INDEX(r.line, ' ', 1) AND m.epoch = k.epoch
WHERE r.n > 2;
