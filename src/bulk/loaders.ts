/** What each product loads files with, and what of its loader matters here. */
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Fault } from '../core/fault.ts';
import { writeGraphCsv } from '../property-graph/csv/write.ts';
import { USUAL_S3_ACCESS } from '../storage/s3-access.ts';
import type { S3Location } from '../storage/url.ts';
import type { TargetAddress, TargetType } from '../targets/target.ts';
import type { WriteRequest } from '../write/request.ts';
import { loadIntoNeptune } from './neptune.ts';
import { runProgram } from './program.ts';

export const BULK_TYPES = ['fuseki', 'neo4j', 'virtuoso', 'neptune'] as const satisfies readonly TargetType[];
export type BulkType = (typeof BULK_TYPES)[number];

export const isBulkType = (type: TargetType): type is BulkType => (BULK_TYPES as readonly TargetType[]).includes(type);

export interface BulkLoad {
  readonly address: TargetAddress;
  /** Absolute paths of N-Quads files in `directory`, at least one. */
  readonly files: readonly string[];
  /** Absolute; empty but for the files, and removed afterwards. */
  readonly directory: string;
  /** Where in object storage the files are put; undefined: they stay where they are. */
  readonly objects: S3Location | undefined;
  /** The command that starts the loader; undefined: the usual one. */
  readonly command: readonly string[] | undefined;
  /** The role with which Neptune reads objects. */
  readonly role: string | undefined;
  readonly request: Omit<WriteRequest, 'target'>;
  readonly signal: AbortSignal;
}

export interface BulkLoader {
  readonly product: string;
  readonly takesTripleTerms: boolean;
  /** As a term of N-Quads; see `SparqlProduct.defaultGraph`. */
  readonly defaultGraph: string | undefined;
  /** Whether its files lie in object storage. */
  readonly takesObjects: boolean;
  /** @throws Fault config/invalid — what the loader cannot reach or use, before anything is read */
  check(load: Omit<BulkLoad, 'files' | 'signal'>): void;
  /** @returns warnings. @throws Fault those of `runProgram` and `loadIntoNeptune` */
  load(load: BulkLoad): Promise<readonly string[]>;
}

const invalid = (message: string, hint: string): Fault => new Fault('config/invalid', message, { hint });

/** As `SPARQL_PRODUCTS` has it. */
const VIRTUOSO_DEFAULT_GRAPH = 'virt:DEFAULT';

/** Each was run by a test but Neptune, whose requests are those of its documentation. */
export const BULK_LOADERS: Readonly<Record<BulkType, BulkLoader>> = {
  fuseki: {
    product: 'Apache Jena Fuseki',
    takesTripleTerms: true,
    defaultGraph: undefined,
    takesObjects: false,
    check({ address: { endpoint } }) {
      if (/^[a-z][a-z0-9+.-]+:\/\//i.test(endpoint))
        throw invalid(
          `The loader of Fuseki writes into the directory of a TDB2 database, and ${endpoint} is a URL`,
          'Stop the server, and give the directory of its database as the target: …/databases/NAME',
        );
    },
    async load({ address, files, command = ['tdb2.tdbloader'], request, signal }) {
      await runProgram(
        {
          command,
          args: ['--loc', resolve(request.workingDirectory, address.endpoint), ...files],
          from: 'Apache Jena (its folder bin)',
          hint: `The server must be stopped meanwhile. A load that has failed leaves a database that is not whole: remove ${address.endpoint}, and load again`,
        },
        signal,
      );
      return [];
    },
  },
  neo4j: {
    product: 'Neo4j',
    takesTripleTerms: true,
    defaultGraph: undefined,
    takesObjects: false,
    check({ address: { endpoint } }) {
      if (!/^[a-z][a-z0-9.-]*$/i.test(endpoint))
        throw invalid(
          `The import of Neo4j makes a database, and ${endpoint} is no name of one`,
          'Stop the server, or the database, and give the name as the target: neo4j',
        );
    },
    async load({ address, files, directory, command = ['neo4j-admin'], request, signal }) {
      const { nodes, edges, warnings } = await writeGraphCsv(files, {
        header: 'neo4j',
        propertyGraph: address.propertyGraph,
        directory,
        name: 'graph',
        attempt: 'bulk',
        spillDirectory: join(request.spillDirectory, 'csv'),
        memoryBudgetBytes: request.memoryBudgetBytes,
        signal,
      });
      const paths = [join(directory, 'graph.nodes.csv'), join(directory, 'graph.edges.csv')] as const;
      await rename(join(directory, nodes.file), paths[0]);
      await rename(join(directory, edges.file), paths[1]);
      const delimiter = warnings.map((warning) => /--array-delimiter='?([^' ]+)'?/.exec(warning)?.[1]).find((found) => found !== undefined);
      await runProgram(
        {
          command,
          args: [
            ...['database', 'import', 'full', address.endpoint, `--nodes=${paths[0]}`, `--relationships=${paths[1]}`],
            ...['--multiline-fields=true', '--strict=true', ...(delimiter === undefined ? [] : [`--array-delimiter=${delimiter}`])],
          ],
          from: 'Neo4j (its folder bin)',
          hint: 'The import fills a database that has nothing, and the server must not have it open',
        },
        signal,
      );
      return warnings;
    },
  },
  virtuoso: {
    product: 'OpenLink Virtuoso',
    takesTripleTerms: false,
    defaultGraph: `<${VIRTUOSO_DEFAULT_GRAPH}>`,
    takesObjects: false,
    check({ address: { endpoint, username, password } }) {
      if (/\/\//.test(endpoint))
        throw invalid(
          `The loader of Virtuoso is started by SQL, and ${endpoint} is a URL`,
          'Give HOST:PORT of its SQL port as the target: localhost:1111',
        );
      if (username === undefined || password === undefined)
        throw invalid('The loader of Virtuoso needs a login', 'Give --username and --password-file: it is started by the user dba');
    },
    async load({ address, files, directory, command = ['isql'], signal }) {
      const { endpoint, username = '', password } = address;
      const place = directory.replaceAll("'", "''");
      const ofThis = `from DB.DBA.load_list where ll_file like '${place}/%'`;
      const statements = [
        `delete ${ofThis}`,
        `ld_dir('${place}', '*.nq', '${VIRTUOSO_DEFAULT_GRAPH}')`,
        'rdf_loader_run()',
        'checkpoint',
        `select concat('failed: ', ll_file, ' ', ll_error) ${ofThis} and ll_error is not null`,
        `select concat('loaded: ', cast(count(*) as varchar)) ${ofThis} and ll_state = 2 and ll_error is null`,
      ];
      const hint = 'The server must be able to read the directory that --bulk names: add it to DirsAllowed in virtuoso.ini';
      const args = [
        ...[endpoint, username, password?.reveal() ?? '', 'VERBOSE=OFF', 'BANNER=OFF', 'PROMPT=OFF', 'ERRORS=STDOUT'],
        `EXEC=${statements.join('; ')};`,
      ];
      const output = await runProgram({ command, args, from: 'Virtuoso (isql, in Debian isql-vt)', hint }, signal);
      // The program ends with 0 whatever the server has said.
      if (Number(/loaded: (\d+)/.exec(output)?.[1]) === files.length) return [];
      throw new Fault(
        'target/refused',
        `Virtuoso has not loaded all of ${files.length} files:\n  ${output.trim().replaceAll('\n', '\n  ')}`,
        { hint },
      );
    },
  },
  neptune: {
    product: 'Amazon Neptune',
    takesTripleTerms: false,
    defaultGraph: undefined,
    takesObjects: true,
    check({ objects, role, request }) {
      if (objects === undefined) throw invalid('The loader of Neptune reads objects of S3', 'Give --bulk s3://BUCKET/PREFIX');
      if (role === undefined)
        throw invalid(
          'The loader of Neptune reads objects by a role',
          'Give --iam-role arn:aws:iam::ACCOUNT:role/NAME, which the cluster has',
        );
      if (request.s3?.region === undefined) throw invalid('The loader of Neptune needs the region of the bucket', 'Set S3_REGION');
    },
    async load({ address, files, objects, role = '', request, signal }) {
      const access = request.s3 ?? USUAL_S3_ACCESS;
      const { deleteObjects, uploadFile } = await import('../storage/s3/write.ts');
      const at = objects as S3Location;
      const prefix = `${at.key.replace(/\/+$/, '')}/${request.runId}-`;
      try {
        for (const [i, file] of files.entries()) await (await uploadFile({ ...at, key: `${prefix}${i + 1}.nq` }, access, file)).complete();
        const source = `s3://${at.bucket}/${prefix}`;
        await loadIntoNeptune({ endpoint: address.endpoint, source, role, region: access.region as string }, signal);
      } finally {
        await deleteObjects({ ...at, key: prefix }, access, () => true);
      }
      return [];
    },
  },
};
