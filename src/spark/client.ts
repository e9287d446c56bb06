/** The client of gRPC: the methods of Spark Connect, and what a status says beside its message. */
import {
  type ClientOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { fromJSON, type MessageTypeDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import type { SparkAddress } from './address.ts';
import { descriptor } from './protocol.ts';

export type UnaryMethod = 'AnalyzePlan' | 'Interrupt' | 'ReleaseSession' | 'FetchErrorDetails';
export type StreamMethod = 'ExecutePlan' | 'ReattachExecute';

/** An answer to `ExecutePlan`; fields that the server left out are absent. */
export interface Answer {
  readonly response_id?: string;
  readonly result_complete?: object;
  readonly observed_metrics?: readonly { readonly values?: readonly { readonly long?: number }[] }[];
  readonly execution_progress?: { readonly stages?: readonly Stage[] };
}

export interface Stage {
  readonly num_tasks?: number;
  readonly num_completed_tasks?: number;
  readonly input_bytes_read?: number;
}

type Done = (error: ServiceError | null, answer: unknown) => void;
type Service = Readonly<Record<UnaryMethod, (request: object, headers: Metadata, options: object, done: Done) => ClientUnaryCall>> &
  Readonly<Record<StreamMethod, (request: object, headers: Metadata) => ClientReadableStream<Answer>>> & { close(): void };

const OPTIONS: ClientOptions = {
  // A server that vanishes without a word is noticed after a minute and a half; an answer of Spark comes every two seconds.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 30_000,
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 2_000,
};

const PROTOCOL: PackageDefinition = fromJSON(descriptor() as Parameters<typeof fromJSON>[0], { keepCase: true, longs: Number });

export class SparkClient {
  readonly #service: Service;
  readonly #headers = new Metadata();

  constructor({ server, tls, headers }: SparkAddress) {
    for (const [name, value] of Object.entries(headers)) this.#headers.set(name, value);
    const definition = PROTOCOL['spark.connect.SparkConnectService'] as ServiceDefinition;
    const ClientOfSpark = makeGenericClientConstructor(definition, 'SparkConnect', {});
    const security = tls ? credentials.createSsl() : credentials.createInsecure();
    this.#service = new ClientOfSpark(server, security, OPTIONS) as unknown as Service;
  }

  /** @throws ServiceError */
  async ask<T>(method: UnaryMethod, request: object, limitMs: number, signal?: AbortSignal): Promise<T> {
    let cancel = (): void => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        const call = this.#service[method](request, this.#headers, { deadline: Date.now() + limitMs }, (error, answer) =>
          error === null ? resolve(answer as T) : reject(error),
        );
        cancel = () => call.cancel();
        signal?.addEventListener('abort', cancel, { once: true });
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  stream(method: StreamMethod, request: object): ClientReadableStream<Answer> {
    return this.#service[method](request, this.#headers);
  }

  close(): void {
    this.#service.close();
  }
}

/** By which the server knows the details of an error; undefined: it has none. */
export function errorIdOf({ metadata }: ServiceError): string | undefined {
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? [];
  if (!Buffer.isBuffer(bytes)) return undefined;
  const { details = [] } = decode<{ details?: readonly { type_url?: string; value?: Buffer }[] }>('Status', bytes);
  const info = details.find(({ type_url: type = '' }) => type.endsWith('/google.rpc.ErrorInfo'))?.value;
  return info === undefined ? undefined : decode<{ metadata?: Readonly<Record<string, string>> }>('ErrorInfo', info).metadata?.errorId;
}

const decode = <T>(message: string, bytes: Buffer): T =>
  (PROTOCOL[`spark.connect.${message}`] as MessageTypeDefinition<object, object>).deserialize(bytes) as T;
