/** Documents agree with the code that they speak of. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { PAGES } from './pages/pages.ts';

const DOCUMENTS = [
  ...readdirSync(PROJECT_ROOT).filter((name) => name.endsWith('.md')),
  ...(readdirSync(join(PROJECT_ROOT, 'docs'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].sort();

const read = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');
/** What people read: without blocks of code. */
const proseOf = (text: string): string => text.replace(/^```.*?^```$/gms, '');

/** Phrases that have a plainer form, with what to write instead. A word alone in quotes is data, such as the user `nobody`. */
const HOUSE_WORDS: readonly (readonly [phrase: string, instead: string])[] = [
  ['of (?:its|their) own', 'its own …, separate or dedicated'],
  ['(?:whoever|somebody|nobody)', 'who it is, such as the caller, the user, no process'],
  ['no longer(?! than)', 'what holds now'],
  ['since then', 'now'],
  ['comes? again', 'repeats'],
  ['(?:is|are) told', 'is reported, gets or is recognised by'],
  ['anew', 'again, or rewrites and rebuilds'],
];
/** Spaces within a sentence, also over lines of a comment. */
const GAP = String.raw`(?:\s+(?:\*|//)?\s*)`;
const PATTERNS = HOUSE_WORDS.map(
  ([phrase, instead]) => [new RegExp(String.raw`\b${phrase.replaceAll(' ', GAP)}\b`, 'gi'), instead] as const,
);
/** The history, and the list above. */
const UNCHECKED = ['CHANGELOG.md', 'test/project/documents.test.ts'];

/** `line: phrase → what to write instead`, for each of the phrases. */
function houseWordsIn(text: string): readonly string[] {
  const prose = text.replace(/(['"`])\w+\1/g, (quoted) => ' '.repeat(quoted.length));
  return PATTERNS.flatMap(([pattern, instead]) =>
    [...prose.matchAll(pattern)].map(
      ({ 0: found, index }) => `${prose.slice(0, index).split('\n').length}: ${found.replace(/\s+/g, ' ')} → ${instead}`,
    ),
  );
}

describe('pages that are made of tables', () => {
  test.each(Object.entries(PAGES))('%s is what `npm run docs` writes', async (path, text) => {
    expect(read(path)).toBe(await text());
  });
});

/** Words in backticks that are files or folders of the project. A module is always written with its whole path. */
const pathsIn = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/`([^`\s]+)`/g)]
    .map(([, word]) => word as string)
    .filter((word) => /^(src|queues|workers|api|bin|test|docs|docker|k8s|grafana|\.ci)\/[\w./-]+$/.test(word) || /\w\.ts$/.test(word));

/** Phrases in backticks of at least two words, all small letters: log messages, unless another program has them. */
const phrasesIn = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/`([a-z]+(?:[;:,]? [a-z]+)+)`/g)].map(([, phrase]) => phrase as string);
/** Commands, spans of BullMQ, settings of Redis, columns of a file. */
const FOREIGN_PHRASE = /^((npm|docker|quadmill) .*|process (transform|slice|announce)|append(fsync|only) \w+|from to type graph)$/;

const linksIn = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string).filter((link) => !/^[a-z]+:/.test(link));

/** Links whose text is a name in backticks, to a module that exports it. */
const namesIn = (text: string): readonly (readonly [name: string, path: string])[] =>
  [...proseOf(text).matchAll(/\[`(\w+)`\]\(([^)\s]+\.ts)\)/g)].map(([, name, path]) => [name as string, path as string]);

/** Names of the code in backticks: `camelCase`, `PascalCase` of two words, `CAPITALS`. */
const identifiersIn = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/`(\w+)`/g)]
    .map(([, word]) => word as string)
    .filter((word) => /^[a-z]+[A-Z]\w*$|^[A-Z][a-z]+[A-Z]\w*$|^[A-Z][A-Z0-9_]{2,}$/.test(word));

const codeOf = (...folders: readonly string[]): string =>
  folders
    .flatMap((top) => (readdirSync(join(PROJECT_ROOT, top), { recursive: true }) as string[]).map((name) => join(top, name)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('documents.test.ts'))
    .map(read)
    .join('\n');
const SOURCES = ['src', 'queues', 'workers', 'api', 'client', 'studio', 'bin'];
const program = codeOf(...SOURCES);
const words = new Set((program + codeOf('test')).match(/\w+/g));

const PROSE = [
  ...DOCUMENTS,
  ...readdirSync(PROJECT_ROOT).filter((name) => name.endsWith('.js')),
  ...[...SOURCES, 'test']
    .flatMap((top) => (readdirSync(join(PROJECT_ROOT, top), { recursive: true }) as string[]).map((name) => `${top}/${name}`))
    .filter((name) => /\.(?:tsx?|m?js|md)$/.test(name)),
].filter((path) => !UNCHECKED.includes(path));

/** The anchors that a page's headings have. */
const anchorsOf = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('what documents name is there', () => {
  test('the rules find what they look for', () => {
    const text = 'See `src/a/b.ts`, `b.ts`, `/process`, `GET /rml` and [c](c.md#d-e).\n```\n`src/no.ts` [x](x.md)\n```\n## D: `e`!\n';
    expect(pathsIn(text)).toEqual(['src/a/b.ts', 'b.ts']);
    expect(linksIn(text)).toEqual(['c.md#d-e']);
    expect(anchorsOf(text)).toEqual(['d-e']);
    expect(phrasesIn('`run failed`, `kept: not sent`, `run`, `Run failed`, `a b=c`')).toEqual(['run failed', 'kept: not sent']);
    expect(identifiersIn('`isSingle`, `OpenScan`, `NOT_YET`, `run`, `Route`')).toEqual(['isSingle', 'OpenScan', 'NOT_YET']);
  });

  test('each decision has its own number, which its title has, too', () => {
    const decisions = DOCUMENTS.filter((path) => path.startsWith('docs/decisions/'));
    const numbers = decisions.map((path) => Number(/(\d{4})-[\w.-]+\.md$/.exec(path)?.[1]));
    expect(decisions.map((path) => Number(/^# (\d+)\. /.exec(read(path))?.[1]))).toEqual(numbers);
    expect([...new Set(numbers)]).toEqual(numbers);
  });

  test.each(DOCUMENTS)('%s: paths', (document) => {
    expect(pathsIn(read(document)).filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([]);
  });

  test.each(DOCUMENTS)('%s: links', (document) => {
    const broken = linksIn(read(document)).filter((link) => {
      const [path, anchor] = link.split('#') as [string, string?];
      const target = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(PROJECT_ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test.each(DOCUMENTS.filter((path) => path.startsWith('docs/how-to/')))('%s: names of the code', (document) => {
    expect(identifiersIn(read(document)).filter((name) => !words.has(name))).toEqual([]);
  });

  test.each(['README.md', 'docs/api.md', 'docs/operations.md', 'docs/run-states.md', 'docs/chaos.md'])(
    '%s: messages of the log',
    (document) => {
      const messages = phrasesIn(read(document)).filter((phrase) => !FOREIGN_PHRASE.test(phrase));
      expect(messages.filter((message) => !program.includes(`'${message}'`))).toEqual([]);
    },
  );

  test('docs/operations.md: panels of the dashboard', () => {
    const panels = [...read('docs/operations.md').matchAll(/`([A-Z][a-z]+(?: [a-z]+)+)`/g)].map(([, title]) => title as string);
    expect(panels.length).toBeGreaterThan(0);
    const dashboard = read('grafana/dashboards/quadmill.json');
    expect(panels.filter((title) => !dashboard.includes(`"title": "${title}"`))).toEqual([]);
  });

  test('docs/glossary.md names what modules export', () => {
    const names = namesIn(read('docs/glossary.md'));
    expect(names.length).toBeGreaterThan(50);
    const missing = names.filter(([name, path]) => !new RegExp(`^export .*\\b${name}\\b`, 'm').test(read(join('docs', path))));
    expect(missing).toEqual([]);
  });
});

describe('sentences are plain', () => {
  test('the rules find what they look for', () => {
    const text = "// a name of\n * its own\nuser('nobody') waits no longer than 3 s\nIt is no\n// longer 'new', whoever asks.\n";
    expect(houseWordsIn(text).map((line) => line.replace(/ → .*/, ''))).toEqual(['1: of * its own', '5: whoever', '4: no // longer']);
    expect(PROSE.length).toBeGreaterThan(1_000);
  });

  test('documents, comments and messages have none of the phrases that are to be avoided', () => {
    expect(PROSE.flatMap((path) => houseWordsIn(read(path)).map((found) => `${path}:${found}`))).toEqual([]);
  });
});
