import { describe, expect, test } from '@jest/globals';
import { fromBytes } from '../../../../src/core/text.ts';
import { type Leniency, parseJsonPath } from '../../../../src/paths/json/parse.ts';
import { JsonPathError } from '../../../../src/paths/json/tokens.ts';
import { openJson } from '../../../../src/sources/json/json.ts';
import { compileSegments } from '../../../../src/sources/json/path/query.ts';
import { parseJson } from '../../../../src/sources/json/text.ts';
import { faultOf, READING } from './reading.ts';

/** What a query finds, as JSON text. */
function find(query: string, document: string, leniency: Leniency = 'strict'): string {
  const root = parseJson(Buffer.from(document).toString('latin1'), true);
  const found: unknown[] = [];
  compileSegments(parseJsonPath(query, leniency).segments)(root, root, found);
  return fromBytes(JSON.stringify(found));
}

const LIBRARY = '{"books":[{"t":"A","p":5,"tags":["x","y"]},{"t":"B","p":12.5},{"t":"C","p":20,"isbn":"1"}],"max":10,"é":"ü","none":null}';
const MIXED = '{"a":[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}],"o":{"p":1,"q":2,"r":3},"e":"f"}';
const LONG = '[{"id":12345678901234567890},{"id":12345678901234567891},{"id":1.50},{"id":"12345678901234567890"}]';

describe('a JSONPath', () => {
  test.each<[query: string, document: string, found: string]>([
    ['$', '1', '[1]'],
    ['$.books[*].t', LIBRARY, '["A","B","C"]'],
    ["$['books'][0]['t']", LIBRARY, '["A"]'],
    ['$["books"][-1].t', LIBRARY, '["C"]'],
    ['$.é', LIBRARY, '["ü"]'],
    ["$['\\u00e9']", LIBRARY, '["ü"]'],
    ['$ .books [ 0 ] .t', LIBRARY, '["A"]'],
    ['$.books.*.p', LIBRARY, '[5,12.5,20]'],
    ['$.none', LIBRARY, '[null]'],
    ['$.none.x', LIBRARY, '[]'],
    ['$.books[5]', LIBRARY, '[]'],
    ['$.max[0]', LIBRARY, '[]'],
    ['$.max.*', LIBRARY, '[]'],
    ['$..t', LIBRARY, '["A","B","C"]'],
    ['$..[0]', LIBRARY, '[{"t":"A","p":5,"tags":["x","y"]},"x"]'],
    ["$..['t','p']", LIBRARY, '["A",5,"B",12.5,"C",20]'],
    ['$..*', '{"a":{"b":[1]}}', '[{"b":[1]},[1],1]'],
    ['$[0,0,1:]', '[1,2,3]', '[1,1,2,3]'],
    ['$[1:3]', '[0,1,2,3,4]', '[1,2]'],
    ['$[-2:]', '[0,1,2,3,4]', '[3,4]'],
    ['$[:-2]', '[0,1,2,3,4]', '[0,1,2]'],
    ['$[::2]', '[0,1,2,3,4]', '[0,2,4]'],
    ['$[::-1]', '[0,1,2,3,4]', '[4,3,2,1,0]'],
    ['$[5:1:-2]', '[0,1,2,3,4]', '[4,2]'],
    ['$[1:-9:-1]', '[0,1,2,3,4]', '[1,0]'],
    ['$[::0]', '[0,1]', '[]'],
    ['$[-9:9]', '[0,1]', '[0,1]'],
    ['$.books[?@.p < 10].t', LIBRARY, '["A"]'],
    ['$.books[?(@.p<$.max)].t', LIBRARY, '["A"]'],
    ['$.books[?@.isbn].t', LIBRARY, '["C"]'],
    ['$.books[?!@.isbn].t', LIBRARY, '["A","B"]'],
    ["$.books[?@.t=='A'||@.p>=20 && @.isbn].t", LIBRARY, '["A","C"]'],
    ["$.books[?!(@.t=='A')].t", LIBRARY, '["B","C"]'],
    ['$.books[?@.p==12.50].t', LIBRARY, '["B"]'],
    ['$.books[?@.p==1.25e1].t', LIBRARY, '["B"]'],
    ["$.books[?@.tags[0]=='x'].t", LIBRARY, '["A"]'],
    ["$.books[?@.tags[*]=='x'].t", LIBRARY, 'refused'],
    ["$.books[?@.tags[?@=='y']].t", LIBRARY, '["A"]'],
    ['$.books[?length(@.tags)==2].t', LIBRARY, '["A"]'],
    ['$.books[?count(@.*)==3].t', LIBRARY, '["A","C"]'],
    ["$.books[?value(@..isbn)=='1'].t", LIBRARY, '["C"]'],
    ["$.books[?match(@.t,'[AB]')].t", LIBRARY, '["A","B"]'],
    ["$.a[?@.b == 'kilo'].b", MIXED, '["kilo"]'],
    ["$.a[?@>3.5 || @.b<'k'].b", MIXED, '["j"]'],
    ["$.a[?search(@.b,'[jk]')].b", MIXED, '["j","k","kilo"]'],
    ["$.a[?match(@.b,'k.')].b", MIXED, '[]'],
    ['$.o[?@<3]', MIXED, '[1,2]'],
    ['$.a[?@.b==$.x]', MIXED, '[3,5,1,2,4,6]'],
    ['$.a[?@==@]', '{"a":[1,[1],{"x":[2]},null]}', '[1,[1],{"x":[2]},null]'],
    ['$[?@.x==@.y]', '[{"x":[1,{"a":2}],"y":[1,{"a":2}]},{"x":[1],"y":[2]},{"x":1}]', '[{"x":[1,{"a":2}],"y":[1,{"a":2}]}]'],
    ['$[?@<null]', '[null,1]', '[]'],
    ['$[?@<=null]', '[null,1]', '[null]'],
    ['$[?@==null]', '[null,1]', '[null]'],
    ['$[?@==-0]', '[0,1]', '[0]'],
    ['$[?length(@)==1]', '["😀","ab","é",[1],{"a":1},5]', '["😀","é",[1],{"a":1}]'],
    ["$[?match(@,'.')]", '["é","\\n","ab",1]', '["é"]'],
    ["$[?match(@,'[.]')]", '["a","."]', '["."]'],
    ["$[?match(@,'a|b')]", '["a","ab"]', '["a"]'],
    ["$[?match(@,'(')]", '["("]', '[]'],
    ["$[?@>'\\uFFFD']", '["😀","a"]', '["😀"]'],
    ["$[?@.id=='12345678901234567890'].id", LONG, '["12345678901234567890"]'],
    ['$[?@.toString]', '[{"a":1}]', '[]'],
    ['$[\'\\\'\',"\\""]', '{"\'":1,"\\"":2}', '[1,2]'],
  ])('%s finds what RFC 9535 says', (query, document, found) => {
    if (found === 'refused') expect(() => find(query, document)).toThrow(JsonPathError);
    else expect(find(query, document)).toBe(found);
  });

  test('compares long integers to the last digit, and a decimal by value', () => {
    expect(JSON.parse(find('$[?@.id==12345678901234567891]', LONG))).toHaveLength(1);
    expect(JSON.parse(find('$[?@.id<12345678901234567891]', LONG))).toHaveLength(2);
    expect(JSON.parse(find('$[?@.id==1.5]', LONG))).toHaveLength(1);
  });

  test.each<[short: string, leniency: Leniency, full: string]>([
    ['a', 'short', '$.a'],
    ['a.b[*]', 'short', '$.a.b[*]'],
    ['[*].a', 'short', '$[*].a'],
    ['*', 'short', '$.*'],
    ['..a', 'short', '$..a'],
    ['Country Code', 'short', "$['Country Code']"],
    ['2nd.x-y:z/@id#', 'short', "$['2nd']['x-y:z/@id#']"],
    ['a[?@.b == 1].c', 'short', '$.a[?@.b == 1].c'],
    ['$.Country Code', 'loose', "$['Country Code']"],
    [' $.a[*]\n', 'loose', '$.a[*]'],
    ['odd;$%&(name)', 'loose', "$['odd;$%&(name)']"],
    ["it's", 'loose', '$["it\'s"]'],
    ['@', 'loose', '$'],
    [' . ', 'loose', '$'],
    ['@.n', 'loose', '$.n'],
    ['@[0].n', 'loose', '$[0].n'],
    ['@..n', 'loose', '$..n'],
    ['@type', 'loose', "$['@type']"],
    ['@type', 'short', "$['@type']"],
    ['$.@', 'loose', "$['@']"],
  ])('%s means, as %s, %s', (short, leniency, full) => {
    expect(parseJsonPath(short, leniency)).toEqual(parseJsonPath(full, 'strict'));
  });

  test.each<[expression: string, position: number]>([
    ['', 0],
    ['$.', 2],
    ['$.students[*]]', 13],
    ['$.students[*', 10],
    ['$[', 1],
    ['$[]', 2],
    ['$.a b', 3],
    ['$. a', 2],
    ['$.1a', 2],
    ['$.a-b', 3],
    ['$a', 1],
    [' $', 0],
    ['$ ', 1],
    ["$['a", 2],
    ["$['\\x']", 3],
    ["$['\\ud800']", 3],
    ['$[01]', 3],
    ['$[-0]', 2],
    ['$[9007199254740992]', 2],
    ['$[1.5]', 3],
    ['$[a]', 2],
    ['$[0,]', 4],
    ['$[?]', 3],
    ['$[?@.a=1]', 6],
    ['$[?@.a==]', 8],
    ['$[?(@.a]', 3],
    ['$[?!@.a==1]', 4],
    ['$[?1]', 3],
    ['$[?true]', 3],
    ['$[?@.*==1]', 3],
    ['$[?count(@.a)]', 3],
    ['$[?count(1)==1]', 9],
    ['$[?length(@.*)==1]', 10],
    ["$[?match(@.a,'a')==true]", 3],
    ['$[?match(@.a)]', 3],
    ['$[?size(@)==1]', 3],
    ['$[?length (@)==1]', 3],
    [`$[?${'('.repeat(200)}@.a${')'.repeat(200)}]`, 103],
  ])('%s is refused at character %d', (expression, position) => {
    for (const leniency of ['strict', expression.startsWith('$') ? 'short' : 'strict'] as const) {
      let error: unknown;
      try {
        parseJsonPath(expression, leniency);
      } catch (caught) {
        error = caught;
      }
      expect(error).toBeInstanceOf(JsonPathError);
      expect((error as JsonPathError).position).toBe(position);
    }
  });

  test.each([
    ['@', "The record itself is $: write $; a member of that name is $['@']"],
    ['@.n', "The record itself is $: write $.n; a member of that name is $['@']"],
    ['@[0]', "The record itself is $: write $[0]; a member of that name is $['@']"],
    ['.', 'The record itself is $: write $'],
  ])('%s is the record in legacy mappings alone', (expression, hint) => {
    for (const leniency of ['strict', 'short'] as const)
      expect(() => parseJsonPath(expression, leniency)).toThrow(expect.objectContaining({ position: 0, hint }));
  });

  test.each([
    ['$.a[?(@.n =~ /A.*\\d/i)]', "Write match(@.n, 'A.*\\\\d')"],
    ["$.a[?(@['a b'].c contains 'x y')]", "Write search(@['a b'].c, 'x y')"],
    ["$.a[?(@.n in ['x', 'y z'])]", "Write @.n == 'x' || @.n == 'y z'"],
    ["$.a[?(@.n nin ['x', 2])]", "Write @.n != 'x' && @.n != 2"],
    ['$.a[?(@.n in @.m)]', "Write comparisons: @.name == 'a' || @.name == 'b'"],
    ["$.a[?(@.t subsetof ['x','y'])]", "Write !@.t[?@ != 'x' && @ != 'y']"],
    ["$.a[?(@.t anyof ['x','y'])]", "Write @.t[?@ == 'x' || @ == 'y']"],
    ["$.a[?(@.t noneof ['x'])]", "Write !@.t[?@ == 'x']"],
    ['$.a[?(@.t size 2)]', 'Write length(@.t) == 2'],
    ['$.a[?(@.t empty true)]', 'Write length(@.t) == 0'],
    ['$.a[?(@.a-b == 1)]', "Write @['a-b']"],
    ['$.a[?(@.length-1)]', 'An element from the end is [-1]'],
    ['$.a[(@.length-2)]', 'Positions from the end are negative: write [-2]'],
    ['$.a[@.length - 1]', 'Positions from the end are negative: write [-1]'],
    ['$.a[(@.x)]', 'A filter begins with ?'],
    ['$.a.length()', 'Let the function grel:array_length count'],
    ['$.a[*].size()', 'Let the function grel:array_length count'],
    ['$.a.index(-2)', 'Write [-2]'],
    ['$.a[*]~', 'JSONPath gives values, never the names of members'],
    ['$.a.b^.c', 'A reference leads to a parent from its beginning: $^.name'],
    ["$.a[?(@.b === 'x')]", 'Write =='],
    ["$.a[?(@.b = 'x and y')]", 'Write =='],
    ["$.a[?(@.b == 'x' and @.c)]", 'Write &&'],
    ['$.a[?(not(@.b))]', 'Write !'],
    ['$.a[?(@.b * 2 == 2)]', 'Compare with a number'],
  ])('%s of another JSONPath is refused with what replaces it', (expression, hint) => {
    expect(() => parseJsonPath(expression, 'strict')).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
    const [, replacement] = /^Write ((?!comp).*@.*)$/.exec(hint) ?? [];
    if (replacement !== undefined && !expression.includes('-b')) parseJsonPath(`$.a[?${replacement}]`, 'strict');
  });

  test.each(['$..[?(@.x)]', '$.a[-2:]', '$.a[-1]', "$.a[?(@['a-b'] == '=~ in [1]')]"])('%s is valid', (expression) => {
    expect(() => parseJsonPath(expression, 'strict')).not.toThrow();
  });

  test('of an iterator that is wrong is a fault that says where and what to do', async () => {
    const opened = openJson(
      (async function* () {})(),
      [{ iterator: '$.students[*]]', references: [], origin: 'mapping.ttl:7:3' }],
      READING,
    );
    const fault = await faultOf(opened);
    expect([fault.code, fault.message, fault.hint, fault.place]).toEqual([
      'mapping/reference',
      '"$.students[*]]" is not a JSONPath: there is a "]" without its "[", at character 14',
      'Remove it',
      { input: 'input.json', expression: '$.students[*]]', mapping: 'mapping.ttl:7:3' },
    ]);
  });

  test('of a reference that is wrong is a fault when its reader is made', async () => {
    const scan = await openJson((async function* () {})(), [{ iterator: '$[*]', references: ['a;b'], origin: '' }], READING);
    expect(() => scan.accessor(0, 'a;b')).toThrow(
      expect.objectContaining({
        code: 'mapping/reference',
        place: { input: 'input.json', expression: 'a;b' },
        hint: "A name with such characters is written $['a;b']",
      }),
    );
  });
});
