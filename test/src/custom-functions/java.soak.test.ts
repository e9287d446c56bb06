/** Functions in JARs: made here, and those of IDLab from Maven Central with their own description. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FunctionDefinition, Outcome } from '../../../src/functions/definition.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { described, EX, makeWorkshop, type Workshop } from './support.ts';

const SOURCE = `
import java.util.*;
import java.time.LocalDate;
public class Words {
  public static String odd(String text) {
    switch (text) {
      case "throw": throw new IllegalStateException("too odd");
      case "null": return null;
      case "loop": for (;;);
      case "exit": System.exit(7);
      case "exit like memory": System.exit(3);
      case "halt": System.err.println("bye"); Runtime.getRuntime().halt(3);
      case "child": return start();
      case "child and exit": System.out.println(start()); System.exit(0);
      case "memory": List<int[]> held = new ArrayList<>(); for (;;) held.add(new int[1000000]);
      case "deep": return odd(text) + 1;
      case "print": System.out.println("not an answer"); return "printed";
      case "environment": return String.valueOf(System.getenv("QUADMILL_SECRET"));
      default: return text + "!";
    }
  }
  /** It keeps the pipes of this process open. */
  static String start() {
    try {
      return String.valueOf(new ProcessBuilder("sleep", "600").inheritIO().start().pid());
    } catch (java.io.IOException error) {
      throw new IllegalStateException(error);
    }
  }
  public List<String> split(String text) { return Arrays.asList(text.split(",")); }
  public static Integer next(int number) { return number + 1; }
  public static LocalDate tomorrow(LocalDate day) { return day.plusDays(1); }
  public static boolean not(Boolean value) { return !value; }
}`;

let workshop: Workshop;
let find: (name: string) => FunctionDefinition;
const all = ({ callAll }: FunctionDefinition, ...texts: readonly string[]): readonly Outcome[] =>
  (callAll as NonNullable<typeof callAll>)(texts.map((text) => [text]));

/** `ex:code` is a class of `words.jar`. */
const inJar = (...names: readonly string[]): string =>
  described(...names).replace(
    'fnoi:JavaScriptImplementation ; doap:download-url <code.mjs>',
    'fnoi:JavaClass ; fnoi:class-name "Words" ; doap:download-page "words.jar"',
  );

beforeAll(async () => {
  process.env.QUADMILL_SECRET = 'hunter2';
  workshop = await makeWorkshop();
  await workshop.write({ 'Words.java': SOURCE, 'functions.ttl': inJar('odd', 'split', 'next', 'tomorrow', 'not') });
  execFileSync('javac', ['-d', workshop.path, join(workshop.path, 'Words.java')]);
  execFileSync('jar', ['cf', join(workshop.path, 'words.jar'), '-C', workshop.path, 'Words.class']);
  const functions = await workshop.open({ seconds: 5 });
  find = (name) => functions.find(EX + name) as FunctionDefinition;
});
afterAll(() => workshop.remove());

test.each<[name: string, text: string, result: unknown]>([
  ['odd', 'a', 'a!'],
  ['odd', 'null', null],
  ['odd', 'print', 'printed'],
  ['odd', 'environment', 'null'],
  ['odd', '', '!'],
  ['split', 'a,b,c', ['a', 'b', 'c']],
  ['next', '41', '42'],
  ['tomorrow', '2026-02-28', '2026-03-01'],
  ['not', 'true', 'false'],
])('%s(%s)', (name, text, result) => {
  expect(all(find(name), text, text)).toEqual([{ result }, { result }]);
});

test.each([
  ['odd', 'throw', 'java.lang.IllegalStateException: too odd (Words.java:7)'],
  ['odd', 'deep', 'java.lang.StackOverflowError'],
  ['next', 'x', 'java.lang.NumberFormatException'],
  ['tomorrow', 'x', 'is no java.time.LocalDate'],
])('an error of %s(%s) is that of its call alone', (name, text, message) => {
  const good = name === 'odd' ? 'a' : name === 'next' ? '1' : '2026-01-01';
  const [before, error, after] = all(find(name), good, text, good);
  expect([before, after]).toEqual([{ result: expect.any(String) }, { result: expect.any(String) }]);
  expect((error as { error: Error }).error.message).toContain(message);
});

test.each([
  ['loop', 'it needed more than 5 s', 'CUSTOM_FUNCTION_SECONDS'],
  ['memory', 'it needed more than 64 MB of memory', 'CUSTOM_FUNCTION_MEMORY_MB'],
])('%s is ended, and the next call starts the process again', (text, message, limit) => {
  expect(all(find('odd'), 'a', text)).toEqual([{ result: 'a!' }]);
  expect(() => all(find('odd'), text)).toThrow(expect.objectContaining({ message, limit }));
  expect(all(find('odd'), 'b')).toEqual([{ result: 'b!' }]);
});

test('a process that ends itself rejects the call', () => {
  expect(all(find('odd'), 'a', 'exit')).toEqual([{ result: 'a!' }]);
  expect(all(find('odd'), 'exit')).toEqual([{ error: expect.objectContaining({ message: expect.stringContaining('it ended with 7') }) }]);
  expect(all(find('odd'), 'b')).toEqual([{ result: 'b!' }]);
});

test.each([
  ['exit like memory', 'it ended with 3'],
  ['halt', 'it ended with 3: bye'],
])('%s is no limit of memory', (text, message) => {
  expect(all(find('odd'), text)).toEqual([{ error: expect.objectContaining({ message: `the Java process ended: ${message}` }) }]);
  expect(all(find('odd'), 'b')).toEqual([{ result: 'b!' }]);
});

const lives = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

async function ended(pid: number): Promise<void> {
  for (let i = 0; i < 400 && lives(pid); i++) await sleep(25);
  expect(lives(pid)).toBe(false);
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(['exit', 'loop'])('what a function has started ends with its process, at %s', async (text) => {
  const [{ result }] = all(find('odd'), 'child') as readonly [{ readonly result: string }];
  expect(lives(Number(result))).toBe(true);
  try {
    all(find('odd'), text);
  } catch (error) {
    expect(error).toMatchObject({ limit: 'CUSTOM_FUNCTION_SECONDS' });
  }
  await ended(Number(result));
});

onLinux('a process that ends at once, and leaves another one that holds its pipes, is seen to end', () => {
  const [{ error }] = all(find('odd'), 'child and exit') as readonly [{ readonly error: Error }];
  expect(error.message).toMatch(/^the Java process ended: it ended with 0/);
});

onLinux.each(['SIGKILL', 'SIGTERM'] as const)('what a function has started ends with the process of Quadmill, by %s', async (signal) => {
  const script = join(workshop.path, 'own.mjs');
  const dist = (path: string): string => JSON.stringify(join(PROJECT_ROOT, 'dist', path));
  await writeFile(
    script,
    `const { JavaProcess } = await import(${dist('src/custom-functions/java/process.js')});
     const java = new JavaProcess([${JSON.stringify(join(workshop.path, 'words.jar'))}], [{ className: 'Words', method: 'odd', parameters: 1 }],
       { seconds: 60, memoryMb: 64 });
     console.log(java.callAll(0, [['child']])[0].result);
     java.callAll(0, [['loop']]);`,
  );
  const own = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(own.stdout, 'data')) as [Buffer];
  const child = Number(line.toString());
  expect(lives(child)).toBe(true);
  own.kill(signal);
  await ended(child);
});

describe('JARs that cannot be used', () => {
  const starting = async (text: string, env: Readonly<Record<string, string>> = {}): Promise<void> => {
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      await workshop.write({ 'other.ttl': text });
      (await workshop.open({}, undefined, 'other.ttl')).start();
    } finally {
      process.env = before;
    }
  };

  test.each([
    [inJar('odd').replace('"Words"', '"Sentences"'), 'there is no class Sentences'],
    [inJar('missing'), 'the class Words has no public method missing with 1 parameters'],
  ])('%#', async (text, message) => {
    await expect(starting(text)).rejects.toMatchObject({ code: 'functions/invalid', message: expect.stringContaining(message) });
  });

  test('without Java', async () => {
    await expect(starting(inJar('odd'), { JAVA_HOME: '/nothing/here' })).rejects.toMatchObject({
      code: 'functions/invalid',
      message: expect.stringContaining('there is no java here'),
    });
  });
});

describe('the functions of IDLab, from Maven Central', () => {
  const IDLAB = 'https://w3id.org/imec/idlab/function#';
  const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>test</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>be.ugent.idlab.knows</groupId><artifactId>idlab-functions-java</artifactId><version>1.3.3</version>
  </dependency></dependencies>
</project>`;

  test('are called by their own description', async () => {
    const repository = join(workshop.path, 'repository');
    await workshop.write({ 'pom.xml': POM });
    execFileSync('mvn', [
      '-q',
      '-B',
      '-f',
      join(workshop.path, 'pom.xml'),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${repository}`,
    ]);
    // One JAR with the libraries that it needs, as RMLMapper's own has them.
    const classes = join(workshop.path, 'classes');
    for (const name of readdirSync(repository)) execFileSync('unzip', ['-qo', join(repository, name), '-d', classes]);
    const jar = join(workshop.path, 'idlab.jar');
    execFileSync('jar', ['cf', jar, '-C', classes, '.']);
    const texts = ['functions_idlab.ttl', 'functions_idlab_classes_java_mapping.ttl'].map((name) =>
      readFileSync(join(classes, 'fno', name), 'utf8'),
    );
    await workshop.write({ 'idlab.ttl': texts.join('\n') });
    const functions = await workshop.open({}, jar, 'idlab.ttl');
    functions.start();
    const call = (name: string, ...args: readonly unknown[]) => (functions.find(IDLAB + name) as FunctionDefinition).call(...args);
    expect(call('toUpperCaseURL', 'http://example.org/a')).toBe('HTTP://EXAMPLE.ORG/A');
    expect(call('equal', 'a', 'a')).toBe('true');
    expect(call('notEqual', 'a', 'a')).toBe('false');
    expect(call('stringContainsOtherString', 'a,b', 'b', ',')).toBe('true');
    expect(call('trueCondition', 'true', 'x')).toBe('x');
  });
});
