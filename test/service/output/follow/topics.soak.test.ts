/** Services that follow topics: of Debezium, with success messages and dead letters on the same brokers; and those that the mapping names. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingKafka } from '../../../servers/queues/kafka.ts';
import { SHARED_START_MS, type SharedKafka, sharedKafka } from '../../../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../../../support/queues/backends.ts';
import { type KafkaClient, openKafkaClient } from '../../../support/service/kafka-client.ts';
import { type Answer, ask, poll, type ServiceProcess, startService } from '../../../support/service/process.ts';
import { CUSTOMERS_ONLY, putMapping, withoutNamespace } from './shop.ts';

const mappingOf = (topic: string): string => `@prefix rml: <http://w3id.org/rml/> . @prefix td: <https://www.w3.org/2019/wot/td#> .
@prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> . @prefix qms: <http://w3id.org/quadmill/source#> . @prefix ex: <http://example.com/> .
<#Order> rml:logicalSource [ qms:changes qms:Upsert ; rml:iterator "$" ;
    rml:source [ a td:Thing ; td:hasForm [ hctl:hasTarget "${topic}" ; hctl:forContentType "application/json" ] ] ] ;
  rml:subjectMap [ rml:template "http://example.com/order/{qms:key}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:article ; rml:objectMap [ rml:reference "$.article" ] ] .`;

const missing = await missingKafka();

(missing === undefined ? describe : describe.skip)(
  `a service that follows topics${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  () => {
    let kafka: SharedKafka;
    let client: KafkaClient;
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    let service: ServiceProcess;
    let topics: Readonly<Record<'customers' | 'success' | 'dead', string>>;
    let position = 0;

    beforeAll(async () => {
      kafka = await sharedKafka();
      const prefix = `${kafka.prefix}${uniquePrefix()}`;
      topics = { customers: `${prefix}.shop.customers`, success: `${prefix}.success`, dead: `${prefix}.dead` };
      directory = await temporaryDirectory();
      await putMapping(join(directory.path, 'data'), 'sql-transformer', CUSTOMERS_ONLY);
      client = await openKafkaClient(kafka.broker, { [topics.customers]: 1, [topics.success]: 1, [topics.dead]: 1 }, [
        topics.success,
        topics.dead,
      ]);
      service = await startService({
        cwd: directory.path,
        env: {
          QUEUE_URL: 'embedded:',
          DATA_DIR: join(directory.path, 'data'),
          KAFKA_BROKERS: kafka.broker,
          KAFKA_TOPIC_NAME_SUCCESS: topics.success,
          KAFKA_TOPIC_NAME_DLQ: topics.dead,
          KAFKA_GROUP_ID: uniquePrefix(),
          LOCK_SECONDS: '2',
          ON_ERROR: 'skip',
          FOLLOW: 'true',
          DATASET: 'shop',
          FOLLOW_CHANGES: `kafka://${kafka.broker}/${prefix}.shop.{table}`,
          EPOCH_SECONDS: '1',
        },
      });
    }, SHARED_START_MS);
    afterAll(async () => {
      await service?.stop();
      await client?.close();
      await kafka?.stop();
      await directory?.remove();
    }, 60_000);

    const change = (op: 'c' | 'u' | 'd', id: number, name?: string): Promise<void> => {
      const row = op === 'd' ? null : { id, name };
      const source = {
        connector: 'mariadb',
        db: 'shop',
        table: 'customers',
        file: 'binlog.000001',
        pos: ++position,
        row: 0,
        snapshot: 'false',
        ts_ms: Date.now(),
      };
      const value = JSON.stringify({ before: op === 'd' ? { id, name: null } : null, after: row, source, op });
      return client.send(topics.customers, [value], { key: JSON.stringify({ id }) });
    };
    const store = async (lines: readonly string[]): Promise<void> => {
      const query = new URLSearchParams({ query: 'SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s' });
      await poll(
        `${service.url}/sparql?${query}`,
        ({ body }) =>
          JSON.stringify(lines) ===
          JSON.stringify(
            (body.results.bindings as readonly Record<string, { readonly value: string }>[]).map(
              ({ s, o }) => `${withoutNamespace(s?.value ?? '')} ${o?.value}`,
            ),
          ),
        30_000,
      );
    };

    test('versions are announced and written, a message that is no change becomes a dead letter, and the follower goes on', async () => {
      await change('c', 1, 'Ann');
      await change('c', 2, 'Bob');
      await store(['customer/1 Ann', 'customer/2 Bob']);
      await client.send(topics.customers, ['no JSON'], { key: '{"id":9}' });
      await change('u', 1, 'Anna');
      await change('d', 2);
      await store(['customer/1 Anna']);
      const heard = await client.hear((all) => all.some(({ topic }) => topic === topics.dead));
      const dead = heard.filter(({ topic }) => topic === topics.dead);
      expect(dead.map(({ headers }) => headers)).toEqual([
        expect.objectContaining({
          code: 'source/malformed',
          'source-topic': topics.customers,
          'source-partition': '0',
          'source-offset': '2',
          'source-key': '{"id":9}',
          'source-value': 'no JSON',
        }),
      ]);
      expect(JSON.parse(dead[0]?.value ?? '')).toMatchObject({
        name: 'SQL-Transformer',
        error: expect.stringContaining(`${topics.customers}[0]@2`),
      });
      const made = heard.filter(({ topic }) => topic === topics.success).map(({ value }) => JSON.parse(value) as Record<string, unknown>);
      expect(made[0]).toMatchObject({ service: 'sql-transformer', dataset: 'shop', version: 1, previousVersion: 0, removed: 0 });
      expect(made.map(({ version }) => version)).toEqual(made.map((_, i) => i + 1));
      const { body } = await poll(`${service.url}/datasets/shop`, (answer) => answer.body.followed?.lag?.messages === 0, 15_000);
      expect(body.followed.feed).toMatch(/^kafka:\/\//);
      expect((await ask(`${service.url}/metrics`)).body).toMatch(/^rml_follow_rejected_total\{dataset="shop"\} 1$/m);
    }, 90_000);

    test('a mapping over a topic is followed by record, without a database: the newest value of a key counts', async () => {
      const orders = `${kafka.prefix}${uniquePrefix()}.orders`;
      const own = await temporaryDirectory();
      const writer = await openKafkaClient(kafka.broker, { [orders]: 3 }, []);
      await putMapping(join(own.path, 'data'), 'sql-transformer', mappingOf(`kafka://${kafka.broker}/${orders}`));
      const follower = await startService({
        cwd: own.path,
        env: {
          QUEUE_URL: 'embedded:',
          DATA_DIR: join(own.path, 'data'),
          LOCK_SECONDS: '2',
          FOLLOW: 'true',
          DATASET: 'orders',
          EPOCH_SECONDS: '1',
        },
      });
      try {
        const send = (id: number, value: object | null): Promise<void> =>
          writer.send(orders, [value === null ? null : JSON.stringify(value)], { key: `o${id}` });
        const graph = async (lines: readonly string[]): Promise<void> => {
          const isThere = ({ status, body }: Answer): boolean =>
            status === 200 && JSON.stringify((body as string).trim().split('\n').sort()) === JSON.stringify([...lines].sort());
          await poll(`${follower.url}/datasets/orders/graph`, isThere, 30_000);
        };
        const line = (id: number, article: string): string =>
          `<http://example.com/order/o${id}> <http://example.com/article> "${article}" .`;
        const lines = Array.from({ length: 20 }, (_, id) => line(id, `a${id}`));
        for (const id of lines.keys()) await send(id, { article: `a${id}` });
        await graph(lines);
        await send(2, { article: 'other' });
        await send(20, { article: 'a20' });
        await send(1, null);
        await graph([lines[0] as string, line(2, 'other'), ...lines.slice(3), line(20, 'a20')]);
        const { body } = await ask(`${follower.url}/datasets/orders`);
        // By output it would be all of them.
        expect(body.versions[0].records).toBeLessThanOrEqual(3);
      } finally {
        await follower.stop();
        await writer.close();
        await own.remove();
      }
    }, 90_000);
  },
);
