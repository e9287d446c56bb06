/** The packages that this project uses, from the lock file, and the licences that they may have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../support/project-root.ts';

export interface Package {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; empty where the package names none. */
  readonly license: string;
  /** Whether an installation of Quadmill includes it; the others serve developers. */
  readonly installed: boolean;
}

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** In the order of the lock file, each name and version once. */
export function lockedPackages(): readonly Package[] {
  const { packages } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
  const found = new Map<string, Package>();
  for (const [path, { version = '', license = '', link, dev, devOptional }] of Object.entries(packages)) {
    if (path === '' || link) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const key = `${name}@${version}`;
    const installed = (!dev && !devOptional) || found.get(key)?.installed === true;
    found.set(key, { name, version, license, installed });
  }
  return [...found.values()];
}

/** Licences that ask for no more than to keep their text and the names of the authors. */
export const ALLOWED: readonly string[] = [
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
];

const MPL = 'MPL-2.0';
/** Vite compresses styles with it; npm locks its builds for every platform. */
const LIGHTNINGCSS = [
  '',
  '-android-arm64',
  '-darwin-arm64',
  '-darwin-x64',
  '-freebsd-x64',
  '-linux-arm-gnueabihf',
  '-linux-arm64-gnu',
  '-linux-arm64-musl',
  '-linux-x64-gnu',
  '-linux-x64-musl',
  '-win32-arm64-msvc',
  '-win32-x64-msvc',
].map((platform) => `lightningcss${platform}`);

/** Packages with another licence, or none in their manifest: why they may be used all the same. */
export const EXCEPTIONS: Readonly<Record<string, { readonly license: string; readonly reason: string }>> = {
  'caniuse-lite': {
    license: 'CC-BY-4.0',
    reason: 'data about browsers, which Babel reads for the coverage of tests; developers only, never shipped',
  },
  'axe-core': { license: MPL, reason: 'finds faults of accessibility in tests of the studio; developers only, never shipped' },
  ...Object.fromEntries(
    LIGHTNINGCSS.map((name) => [
      name,
      { license: MPL, reason: 'compresses styles while the studio is built; developers only, never shipped' },
    ]),
  ),
};

/** Whether an SPDX expression of names, `AND`, `OR` and parentheses can be met by allowed licences alone. */
export function isAllowed(expression: string): boolean {
  const inner = /\(([^()]*)\)/.exec(expression);
  // What stands in parentheses is replaced by a name with the same answer.
  if (inner !== null) return isAllowed(expression.replace(inner[0], isAllowed(inner[1] as string) ? 'MIT' : 'none'));
  return expression.split(' OR ').some((choice) => choice.split(' AND ').every((name) => ALLOWED.includes(name.trim())));
}

/** What each direct dependency serves; a new one needs a line here. */
export const PURPOSES: Readonly<Record<string, string>> = {
  '@aws-sdk/client-s3': 'objects of S3, and of what speaks its protocol',
  '@bull-board/api': 'the dashboard of the queues',
  '@bull-board/koa': 'the dashboard of the queues',
  '@eslint-community/regexpp': 'the parser of regular expressions',
  '@electric-sql/pglite': 'the embedded queue: PostgreSQL in the process',
  '@koa/router': 'routes of the HTTP service',
  '@noble/hashes': 'MD5, SHA-1 and SHA-2 for functions, also where there is no Node',
  '@opentelemetry/api': 'traces, where an SDK is registered',
  'quickjs-emscripten-core': 'custom functions in JavaScript: the interface of the sandbox',
  '@jitl/quickjs-wasmfile-release-sync': 'custom functions in JavaScript: QuickJS in WebAssembly',
  '@grpc/grpc-js': 'the client of gRPC, for Spark Connect',
  '@grpc/proto-loader': 'messages of Spark Connect',
  ajv: 'request bodies and parameters, checked against their schemas',
  jose: 'signatures of tokens of an issuer of OpenID Connect',
  'jsonc-parser': 'the place of a JSON error in a request body',
  bullmq: 'jobs and queues on Redis and PostgreSQL; pinned, since parts are used that are not documented',
  'bullmq-otel': 'traces through the queue',
  croner: 'cron expressions',
  fontoxpath: 'XPath that does not stream',
  ioredis: 'the client of Redis',
  kafkajs: 'the client of Apache Kafka',
  koa: 'the HTTP service',
  lmdb: 'the rows that a follower of changes keeps',
  '@vlasky/zongji': 'the binlog of MySQL and MariaDB',
  avsc: 'messages in Avro',
  mysql2: 'the client of MySQL and MariaDB',
  n3: 'mappings in Turtle, and Turtle and TriG that `quadmill write` takes',
  yaml: 'mappings in YARRRML: YAML with the place of each value',
  'neo4j-driver': 'graph databases over Bolt',
  oxigraph: 'the embedded store, and ontologies in every syntax of RDF',
  pg: 'the client of PostgreSQL',
  pino: 'logs',
  'prom-client': 'metrics',
  re2js: 'regular expressions in linear time, where that of JavaScript could take too long',
  'hyparquet-compressors': 'pages of Parquet that are compressed by Snappy or LZ4',
  '@bokuweb/zstd-wasm': 'pages of Parquet that are compressed by Zstandard, in every version of Node',
  yauzl: 'the directory of the zip archives that workbooks are',
  undici: 'the one HTTP client: inputs, SPARQL stores, the embedded store',
};

/** @throws Error — a direct dependency without a purpose */
export function dependenciesPage(): string {
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const packages = lockedPackages();
  const licenseOf = (name: string): string => packages.find((one) => one.name === name && one.installed)?.license ?? '';
  const direct = Object.entries(dependencies).map(([name, range]) => {
    const purpose = PURPOSES[name];
    if (purpose === undefined)
      throw new Error(`${name} is a dependency without a line in PURPOSES of test/project/package/dependencies.ts`);
    return `| \`${name}\` | ${range} | ${licenseOf(name)} | ${purpose} |`;
  });
  return `# Dependencies and their licences

\`npm run docs\` makes this page from \`package.json\`, \`package-lock.json\` and \`test/project/package/dependencies.ts\`. A test fails when a package has a licence that
is not allowed there. Allowed are ${ALLOWED.join(', ')}: they ask for no more than to keep their text and the names of the authors. npm installs
each package with its licence text.

## Direct dependencies

| package | version | licence | serves |
| --- | --- | --- | --- |
${direct.join('\n')}

## Installed with Quadmill

Everything that \`npm install quadmill\` may bring, on any platform.

${byLicense(packages.filter(({ installed }) => installed))}

## For developers only

These build and test Quadmill, and are no part of the package or the image.

${byLicense(packages.filter(({ installed }) => !installed))}

## Exceptions

| package | licence | why |
| --- | --- | --- |
${Object.entries(EXCEPTIONS)
  .map(([name, { license, reason }]) => `| \`${name}\` | ${license} | ${reason} |`)
  .join('\n')}
`;
}

function byLicense(packages: readonly Package[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, version, license } of packages) {
    const group = groups.get(license) ?? [];
    group.push(`${name} ${version}`);
    groups.set(license, group);
  }
  const rows = [...groups].sort(([a, ones], [b, others]) => others.length - ones.length || (a < b ? -1 : 1));
  return `| licence | packages |\n| --- | --- |\n${rows.map(([license, names]) => `| ${license || 'none named'} | ${names.sort().join(', ')} |`).join('\n')}`;
}
