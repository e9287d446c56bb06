/** A client of Spark Connect: runs SQL for its effects. */
import { randomUUID } from 'node:crypto';
import { type ChannelCredentials, credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';

export interface SparkSession {
  /** Waits until the statement has had its effect. @throws Error — with the message of Spark */
  sql(statement: string): Promise<void>;
  close(): Promise<void>;
}

interface Service {
  ExecutePlan(request: unknown): NodeJS.EventEmitter;
  ReleaseSession(request: unknown, done: (error: ServiceError | null) => void): void;
  close(): void;
}

const MOST_BYTES = 128 * 2 ** 20;

/** @param protos directory of the protocol buffers of Spark Connect @param address `host:port` */
export async function openSession(protos: string, address: string): Promise<SparkSession> {
  const definition = await load(['spark/connect/base.proto'], {
    includeDirs: [protos],
    keepCase: true,
    longs: Number,
    enums: String,
    oneofs: true,
  });
  const { spark } = loadPackageDefinition(definition) as unknown as {
    readonly spark: {
      readonly connect: { readonly SparkConnectService: new (address: string, by: ChannelCredentials, options: object) => Service };
    };
  };
  const client = new spark.connect.SparkConnectService(address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': MOST_BYTES,
    'grpc.max_send_message_length': MOST_BYTES,
  });
  const common = { session_id: randomUUID(), user_context: { user_id: 'test', user_name: 'test' }, client_type: 'test' };
  const execute = (plan: unknown): Promise<Answer[]> =>
    new Promise((resolve, reject) => {
      const answers: Answer[] = [];
      const call = client.ExecutePlan({ ...common, operation_id: randomUUID(), plan });
      call.on('data', (answer) => answers.push(answer as Answer));
      call.on('error', reject);
      call.on('end', () => resolve(answers));
    });
  return {
    async sql(query) {
      const answers = await execute({ command: { sql_command: { input: { sql: { query } } } } });
      // A query is not run before its rows are asked for.
      const relation = answers.find((answer) => answer.sql_command_result)?.sql_command_result?.relation;
      if (relation !== undefined) await execute({ root: relation });
    },
    close: () =>
      new Promise((resolve) =>
        client.ReleaseSession(common, () => {
          client.close();
          resolve();
        }),
      ),
  };
}

interface Answer {
  readonly sql_command_result?: { readonly relation?: unknown };
}
