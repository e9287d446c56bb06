import { describe, expect, test } from '@jest/globals';
import { describeFault, Fault } from '../../../src/core/fault.ts';
import {
  type ColumnNaming,
  findColumn,
  parseNameList,
  parseTableName,
  quote,
  suggestColumns,
} from '../../../src/sql/catalogue/identifiers.ts';
import type { Product } from '../../../src/sql/database.ts';

const columns = (...names: string[]): { name: string }[] => names.map((name) => ({ name }));

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('no fault');
}

describe('quote', () => {
  test.each<[string, Product, string]>([
    ['Name', 'postgresql', '"Name"'],
    ['a "b"', 'postgresql', '"a ""b"""'],
    ['a`b', 'postgresql', '"a`b"'],
    ['"; drop table x; --', 'postgresql', '"""; drop table x; --"'],
    ['Name', 'mysql', '`Name`'],
    ['a`b``', 'mariadb', '`a``b`````'],
    ['a"b\\', 'mysql', '`a"b\\`'],
  ])('%p for %p is %p', (name, product, expected) => {
    expect(quote(name, product)).toBe(expected);
  });

  test.each(['', 'a\0b'])('refuses %p', (name) => {
    expect(faultOf(() => quote(name, 'postgresql')).code).toBe('mapping/invalid');
  });
});

describe('the name of a table', () => {
  test.each<[string, Product, string[]]>([
    ['student', 'postgresql', ['student']],
    ['Student', 'postgresql', ['student']],
    ['"Student"', 'postgresql', ['Student']],
    ['Sales.Student', 'postgresql', ['sales', 'student']],
    ['"my schema".Student', 'postgresql', ['my schema', 'student']],
    [' "a.b" . "c""d" ', 'postgresql', ['a.b', 'c"d']],
    ['db.public.t', 'postgresql', ['db', 'public', 't']],
    ['ÉTÉ_1$', 'postgresql', ['ÉtÉ_1$']],
    ['"`"', 'postgresql', ['`']],
    [`"${'é'.repeat(40)}"`, 'postgresql', ['é'.repeat(31)]],
    [`${'A'.repeat(70)}`, 'postgresql', ['a'.repeat(63)]],
    ['Student', 'mysql', ['Student']],
    ['"Student"', 'mysql', ['Student']],
    ['`Student`', 'mysql', ['Student']],
    ['test.IOUs', 'mariadb', ['test', 'IOUs']],
    ['`a``b`."c""d"', 'mysql', ['a`b', 'c"d']],
    ['1st', 'mysql', ['1st']],
    ['`123`', 'mysql', ['123']],
    ['成分', 'mysql', ['成分']],
    ['dbo.Person', 'sqlserver', ['dbo', 'Person']],
    ['"Person"', 'sqlserver', ['Person']],
    ['[my schema].[a]]b.c]', 'sqlserver', ['my schema', 'a]b.c']],
    ['hr.employees', 'oracle', ['HR', 'EMPLOYEES']],
    ['"employees"', 'oracle', ['employees']],
    ['straße', 'oracle', ['STRAßE']],
  ])('%p for %p', (text, product, expected) => {
    expect(parseTableName(text, product)).toEqual(expected);
  });

  test.each<[string, Product]>([
    ['', 'postgresql'],
    ['""', 'postgresql'],
    ['.', 'postgresql'],
    ['a.', 'postgresql'],
    ['.a', 'postgresql'],
    ['a..b', 'postgresql'],
    ['Country Info', 'postgresql'],
    ['a; drop table b', 'postgresql'],
    ['a--', 'postgresql'],
    ['(select 1)', 'postgresql'],
    ['"a', 'postgresql'],
    ['"a"b', 'postgresql'],
    ['a"b"', 'postgresql'],
    ['"a\0b"', 'postgresql'],
    ['`a`', 'postgresql'],
    ['[a]', 'postgresql'],
    ['1st', 'postgresql'],
    ['a.b.c.d', 'postgresql'],
    ['a.b.c', 'mysql'],
    ['123', 'mysql'],
    ['a-b', 'mysql'],
    ['`a', 'mysql'],
  ])('%p for %p is none', (text, product) => {
    const fault = faultOf(() => parseTableName(text, product));
    expect(fault.code).toBe('mapping/invalid');
    expect(describeFault(fault)).toContain('is not the name of a table. Write table or');
  });

  test.each([
    ['a, "B,c" ,$user,"$user"', ['a', 'B,c', '$user', '$user']],
    ['A', ['a']],
    ['', undefined],
    ['a,,b', undefined],
    [',a', undefined],
    ['a.b', undefined],
    ["a'", undefined],
  ])('the list %p', (text, expected) => {
    expect(parseNameList(text, 'postgresql')).toEqual(expected);
  });
});

describe('the column of a reference', () => {
  test.each<[string, string[], string, ColumnNaming, Product, number]>([
    ['a quoted name is exactly that', ['id', 'Name'], '"Name"', 'identifiers', 'postgresql', 1],
    ['a quoted name in another case is none', ['id', 'Name'], '"name"', 'identifiers', 'postgresql', -1],
    ['an unquoted name is folded', ['id', 'name'], 'Name', 'identifiers', 'postgresql', 1],
    ['an unquoted name means no column with capitals', ['id', 'Name'], 'Name', 'identifiers', 'postgresql', -1],
    ['folding tells columns apart', ['Name', 'name', 'NAME'], 'NAME', 'identifiers', 'postgresql', 1],
    ['quotes in a name are doubled', ['a"b'], '"a""b"', 'identifiers', 'postgresql', 0],
    ['a name with a dot', ['a.b'], '"a.b"', 'identifiers', 'postgresql', 0],
    ['what is no identifier is compared as it stands', ['Country Code'], 'Country Code', 'identifiers', 'postgresql', 0],
    ['MySQL has no case', ['id', 'Name'], 'NAME', 'identifiers', 'mysql', 1],
    ['MySQL has no case between quotes either', ['id', 'Name'], '"NAME"', 'identifiers', 'mysql', 1],
    ['MySQL between backticks', ['id', 'Name'], '`name`', 'identifiers', 'mariadb', 1],
    ['MySQL prefers the same case', ['NAME', 'name'], 'name', 'identifiers', 'mysql', 1],
    ['a label is exactly that', ['name', 'Name'], 'Name', 'labels', 'postgresql', 1],
    ['a label in another case', ['id', 'name'], 'Name', 'labels', 'postgresql', 1],
    ['a label in another case, for MySQL', ['id', 'name'], 'Name', 'labels', 'mysql', 1],
    ['a column of a view, as its query labels it', ['StudentId'], 'StudentId', 'either', 'postgresql', 0],
    ['a column of a view, folded first', ['Id', 'id'], 'Id', 'either', 'postgresql', 1],
    ['a label between quotes', ['Name'], '"Name"', 'labels', 'postgresql', -1],
    ['a label whose quotes belong to it', ['Name', '"Name"'], '"Name"', 'labels', 'postgresql', 1],
    ['a label between backticks, for MySQL', ['Name'], '`Name`', 'labels', 'mysql', -1],
    ['a label with spaces', ['Country Code'], 'country code', 'labels', 'postgresql', 0],
    ['no such label', ['id'], 'name', 'labels', 'mysql', -1],
    ['no columns', [], 'name', 'labels', 'mysql', -1],
    ['an empty reference', ['a'], '', 'identifiers', 'postgresql', -1],
    ['PostgreSQL names a column without a name', ['?column?'], '?column?', 'labels', 'postgresql', 0],
  ])('%s', (_, names, reference, how, product, expected) => {
    expect(findColumn(columns(...names), reference, how, product)).toBe(expected);
  });

  test.each<[string[], string, 'identifiers' | 'labels', Product]>([
    [['id', 'name', 'name'], 'name', 'identifiers', 'postgresql'],
    [['id', 'name', 'name'], 'name', 'labels', 'mysql'],
    [['NAME', 'Name'], 'name', 'labels', 'mariadb'],
    [['NAME', 'Name'], '`name`', 'identifiers', 'mysql'],
  ])('%j has several for %p', (names, reference, how, product) => {
    const fault = faultOf(() => findColumn(columns(...names), reference, how, product));
    expect(fault.code).toBe('mapping/reference');
    expect(fault.message).toMatch(/could mean 2 columns: \w+ at \d, \w+ at \d$/);
  });

  test.each<[string[], string, 'identifiers' | 'labels', Product, string]>([
    [['id', 'Name'], 'Name', 'identifiers', 'postgresql', 'An unquoted name is read in lower case: write "Name" for the column Name'],
    [['id', 'Name'], '"name"', 'identifiers', 'postgresql', 'Write "Name" for the column Name'],
    [['id', 'name'], 'naem', 'identifiers', 'postgresql', 'Did you mean name?'],
    [['id', 'name'], '"naem"', 'labels', 'mysql', 'Did you mean name?'],
    [['id', 'name'], 'salary', 'labels', 'mysql', 'The columns are id, name'],
    [
      Array.from({ length: 1600 }, (_, i) => `c${i}`),
      'salary',
      'labels',
      'postgresql',
      'The first of its 1600 columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9',
    ],
    [[], 'salary', 'labels', 'postgresql', 'There are no columns'],
  ])('%j for %p: what to write instead', (names, reference, how, product, expected) => {
    expect(suggestColumns(columns(...names), reference, how, product)).toBe(expected);
  });
});
