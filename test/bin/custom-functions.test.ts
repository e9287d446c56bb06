/** `--functions`: the example of `docs/custom-functions.md`, and what is said of calls that fail. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { described, EX } from '../src/custom-functions/support.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { type Files, withFiles } from './faults/trial.ts';
import { quadmillHere } from './messages/in-process.ts';

const PAGE = readFileSync(join(PROJECT_ROOT, 'docs', 'custom-functions.md'), 'utf8');
/** The blocks of the page that stand after the name of a file. */
const TUTORIAL: Files = Object.fromEntries(
  [...PAGE.matchAll(/in `([\w.]+)`:\n\n```\w+\n(.*?)```/gs)].map(([, name, text]) => [name as string, text as string]),
);
const PRINTED = /```nquads\n(.*?)```/s.exec(PAGE)?.[1];

/** Runs a mapping with `functions.ttl`; `lines` is the text of its output. */
const run = (files: Files, name: string) =>
  withFiles(files, async (at) => {
    const answer = await quadmillHere(at, 'run', name, '--functions', 'functions.ttl', '--on-error', 'skip', '-o', 'out.nq');
    return { ...answer, lines: answer.code === 0 ? readFileSync(join(at, 'out.nq'), 'utf8') : '' };
  });

const mapping = (name: string, reference = 'name'): string => `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <${EX}> .
<#People> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.org/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:is ; rml:objectMap [ rml:functionExecution [
    rml:function ex:${name} ; rml:input [ rml:parameter ex:text ; rml:inputValueMap [ rml:reference "${reference}" ] ] ] ] ] .`;

const FILES: Files = {
  'functions.ttl': described('shout', 'loop'),
  'code.mjs': `export const shout = (text) => { if (text === 'no') throw new Error('not this'); return text.toUpperCase(); };
export const loop = (text) => { for (; text !== '1';); return text; };`,
  'shout.ttl': mapping('shout'),
  'loop.ttl': mapping('loop', 'id'),
  'people.csv': 'id,name\n1,a\n2,no\n3,c\n',
};

describe('the example of the page', () => {
  test('prints what the page says', async () => {
    expect(Object.keys(TUTORIAL)).toEqual(['names.mjs', 'functions.ttl', 'mapping.ttl', 'people.csv']);
    expect(await run(TUTORIAL, 'mapping.ttl')).toMatchObject({ code: 0, lines: PRINTED });
  });

  test('is checked, explained and listed', async () => {
    await withFiles(TUTORIAL, async (at) => {
      const own = ['--functions', 'functions.ttl'];
      expect(await quadmillHere(at, 'check', 'mapping.ttl', ...own)).toMatchObject({ code: 0 });
      expect(await quadmillHere(at, 'check', 'mapping.ttl')).toMatchObject({
        code: 2,
        out: expect.stringContaining('there is no function'),
      });
      expect(await quadmillHere(at, 'explain', 'mapping.ttl', ...own)).toMatchObject({ code: 0 });
      expect(await quadmillHere(at, 'functions', ...own)).toMatchObject({
        code: 0,
        out: expect.stringContaining(`  <${EX}initials>: initials\n`),
      });
      expect((await quadmillHere(at, 'functions', `${EX}initials`, '--turtle', ...own)).out).toContain('fno:expects');
      expect(await quadmillHere(at, 'run', 'mapping.ttl', '--functions-jar', 'names.mjs')).toMatchObject({ code: 2 });
    });
  });
});

describe('calls that fail', () => {
  test('an error rejects its record, and names function, arguments and record', async () => {
    const { code, lines, err } = await run(FILES, 'shout.ttl');
    expect([code, lines]).toEqual([0, `<http://example.org/1> <${EX}is> "A" .\n<http://example.org/3> <${EX}is> "C" .\n`]);
    expect(err).toContain(`The function <${EX}shout> fails: Error: not this (code.mjs:1:`);
    expect(err).toMatch(/text = "no"/);
    expect(err).toMatch(/people\.csv/);
  });

  test('a call that does not end fails the run', async () => {
    process.env.CUSTOM_FUNCTION_SECONDS = '1';
    try {
      const { code, err } = await run(FILES, 'loop.ttl');
      expect(code).toBe(1);
      expect(err).toContain(`A call of the function <${EX}loop> was ended: it needed more than 1 s`);
      expect(err).toContain('text = "2"');
    } finally {
      delete process.env.CUSTOM_FUNCTION_SECONDS;
    }
  });
});

test('many records, of which each needs several calls, are mapped as one by one', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `${i},n${i % 7}`);
  const files = { ...FILES, 'people.csv': `id,name\n${rows.join('\n')}\n` };
  const { code, lines } = await run(files, 'shout.ttl');
  expect(code).toBe(0);
  expect(lines.trimEnd().split('\n').sort()).toEqual(
    rows
      .map((row) => row.split(','))
      .map(([id, name]) => `<http://example.org/${id}> <${EX}is> "${name?.toUpperCase()}" .`)
      .sort(),
  );
});
