-- A lending library: keys, references, nulls, dates, exact numbers.
CREATE TABLE author (
  id       integer PRIMARY KEY,
  name     text NOT NULL,
  born     date,
  died     date
);
CREATE TABLE book (
  isbn      varchar(13) PRIMARY KEY,
  title     text NOT NULL,
  author_id integer REFERENCES author,
  published date,
  price     numeric(8,2)
);
CREATE TABLE reader (
  id     integer PRIMARY KEY,
  name   text NOT NULL,
  active boolean NOT NULL
);
CREATE TABLE loan (
  reader_id integer NOT NULL REFERENCES reader,
  isbn      varchar(13) NOT NULL REFERENCES book,
  lent_at   timestamptz NOT NULL,
  returned  date,
  PRIMARY KEY (reader_id, isbn, lent_at)
);
INSERT INTO author VALUES
  (1, 'Johanna Spyri', '1827-06-12', '1901-07-07'),
  (2, 'Friedrich Dürrenmatt', '1921-01-05', '1990-12-14'),
  (3, 'Nobody in particular', NULL, NULL);
INSERT INTO book VALUES
  ('9783150183052', 'Heidis Lehr- und Wanderjahre', 1, '1880-01-01', 12.80),
  ('9783257230475', 'Die Physiker', 2, '1962-02-20', 11.00),
  ('9783257225358', 'Der Richter und sein Henker', 2, '1952-01-01', 10.50),
  ('9780000000002', 'A book that nobody has signed', NULL, NULL, NULL);
INSERT INTO reader VALUES (1, 'Ada', true), (2, 'Grace', true), (3, 'Edsger', false);
INSERT INTO loan VALUES
  (1, '9783257230475', '2026-10-02 09:30:00+02', '2026-10-20'),
  (1, '9783150183052', '2026-11-02 17:05:00+01', NULL),
  (2, '9783257225358', '2026-11-14 10:00:00+01', NULL),
  (3, '9783257230475', '2026-11-16 08:15:00+01', NULL);
