/** What `quadmill run --engine spark` refuses before anything is sent; `submit.soak.test.ts` has runs on a real server. */
import { afterEach, expect, test } from '@jest/globals';
import { withFiles } from '../faults/trial.ts';
import { type Printed, quadmillHere } from '../messages/in-process.ts';

const MAPPING = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://example.com/> .
<#P> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .
`;
/** Nothing listens on this port. */
const SERVER = ['--engine', 'spark', '--connect', 'sc://127.0.0.1:1'];
const OUTPUT = ['-o', 's3a://lake/graph'];
const VARIABLES = ['SPARK_REMOTE', 'ON_ERROR', 'DISTINCT', 'MAX_RUN_SECONDS'];

afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

const run = (args: readonly string[], variables: Readonly<Record<string, string>> = {}, mapping = MAPPING): Promise<Printed> => {
  Object.assign(process.env, variables);
  return withFiles({ 'people.ttl': mapping, 'people.csv': 'id,name\n1,Ada\n' }, (directory) =>
    quadmillHere(directory, 'run', 'people.ttl', ...args.map((arg) => arg.replace('HERE', directory))),
  );
};

test.each<[readonly string[], Readonly<Record<string, string>>, string]>([
  [['--connect', 'sc://spark'], {}, '--connect is for a run on another engine: add --engine spark'],
  [['--source', 'people.csv=s3a://lake/people'], {}, '--source is for a run on another engine: add --engine spark'],
  [['--engine', 'spark', ...OUTPUT], {}, '--engine spark needs --connect sc://HOST:PORT, or the variable SPARK_REMOTE'],
  [['--engine', 'spark', ...OUTPUT], { SPARK_REMOTE: 'local[2]' }, 'The address of Spark is no address of a server'],
  [SERVER, {}, "--output is '-', expected is a directory that Spark reaches"],
  [[...SERVER, '-o', 'graph'], {}, "--output is 'graph', expected is a directory that Spark reaches"],
  [[...SERVER, ...OUTPUT, '--threads', '2'], {}, '--threads has no effect on another engine'],
  [[...SERVER, ...OUTPUT, '--dataset', 'd'], {}, '--dataset has no effect on another engine'],
  [[...SERVER, ...OUTPUT, '--format', 'turtle'], {}, '--format is turtle, and a run on another engine takes nquads alone'],
  [[...SERVER, ...OUTPUT, '--on-error', 'skip'], {}, '--on-error is skip, and a run on another engine takes strict or auto alone'],
  [[...SERVER, ...OUTPUT], { ON_ERROR: 'skip' }, 'ON_ERROR is skip, and a run on another engine takes strict or auto alone'],
  [[...SERVER, ...OUTPUT], { DISTINCT: 'false' }, 'DISTINCT is false, and a run on another engine takes true alone'],
  [[...SERVER, ...OUTPUT], { MAX_RUN_SECONDS: '60' }, 'MAX_RUN_SECONDS is 60, and a run on another engine takes 0 alone'],
  [[...SERVER, ...OUTPUT, '--source', 'x.csv=y'], {}, "--source names 'x.csv', and the sources are people.csv"],
  [[...SERVER, '-o', 'file:///HERE/'], {}, 'would replace '],
  [
    [...SERVER, '-o', 's3://lake', '--source', 'people.csv=s3a://lake/people/'],
    {},
    'would replace s3a://lake/people/, which the run reads',
  ],
])('refuses %j with %j', async (args, variables, message) => {
  const { code, err } = await run(args, variables);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test('refuses what compile refuses, without a server', async () => {
  const other = MAPPING.replace('people.csv', 'people.xml').replace('rml:CSV', 'rml:XPath');
  const { code, err } = await run([...SERVER, ...OUTPUT], {}, other);
  expect([code, err]).toEqual([2, expect.stringContaining('people.ttl:2:')]);
  expect(err).toContain('the XML document "people.xml"');
});

test('an option of the command line holds in the place of a variable', async () => {
  const { code, err } = await run([...SERVER, ...OUTPUT, '--on-error', 'strict'], { ON_ERROR: 'skip' });
  expect([code, err]).toEqual([1, expect.stringContaining('Spark at 127.0.0.1:1 cannot be reached for a session')]);
});
