-- Half of each page stays free, so that a changed row stays on its page and no index entry is written.
CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  document text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) COLLATE "C" PRIMARY KEY,
  prefix varchar(64) COLLATE "C" NOT NULL,
  name varchar(500) NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
