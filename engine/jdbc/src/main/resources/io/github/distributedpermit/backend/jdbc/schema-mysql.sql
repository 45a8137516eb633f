CREATE TABLE IF NOT EXISTS distributed_permit_key (
  name varchar(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  revision bigint NOT NULL,
  touched bigint NOT NULL,
  document mediumtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS distributed_permit_member (
  id varchar(90) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
  prefix varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name varchar(500) CHARACTER SET utf8mb4 NOT NULL,
  expires bigint NOT NULL,
  evictions bigint NOT NULL
) ENGINE = InnoDB;
