#!/bin/bash
# The sample database of docker-compose.yml: made once, by PostgreSQL's image, with a user that may read it and no more.
set -euo pipefail
psql --set ON_ERROR_STOP=1 --set password="$READER_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE purchase (
  id integer PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customer,
  bought_at timestamp NOT NULL,
  cancelled boolean
);
INSERT INTO customer VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Zoë');
INSERT INTO purchase VALUES (10, 1, '2026-01-02 03:04:05', NULL), (11, 1, '2026-02-03 04:05:06', true), (12, 3, '2026-03-04 05:06:07', NULL);
CREATE USER reader PASSWORD :'password';
GRANT SELECT ON customer, purchase TO reader;
SQL
