CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  document varchar NOT NULL
);

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) PRIMARY KEY,
  prefix varchar(64) NOT NULL,
  name varchar(500) NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
);
