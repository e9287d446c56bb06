/**
 * The messages of Spark Connect that a job needs, with the field numbers of Spark 4.
 *
 * @see https://github.com/apache/spark/tree/master/sql/connect/common/src/main/protobuf/spark/connect
 */

/** Field → number and type; a type may be a message of this table, `[]` marks a list. */
type Fields = Readonly<Record<string, readonly [number: number, type: string]>>;

/** Of each request. */
const REQUEST: Fields = { session_id: [1, 'string'], user_context: [2, 'UserContext'] };

const MESSAGES: Readonly<Record<string, Fields>> = {
  UserContext: { user_id: [1, 'string'], user_name: [2, 'string'] },

  AnalyzePlanRequest: { ...REQUEST, client_type: [3, 'string'], spark_version: [10, 'Empty'] },
  AnalyzePlanResponse: { server_side_session_id: [15, 'string'], spark_version: [8, 'SparkVersion'] },
  SparkVersion: { version: [1, 'string'] },
  Empty: {},

  ExecutePlanRequest: {
    ...REQUEST,
    plan: [3, 'Plan'],
    client_type: [4, 'string'],
    request_options: [5, 'RequestOption[]'],
    operation_id: [6, 'string'],
    client_observed_server_side_session_id: [8, 'string'],
  },
  RequestOption: { reattach_options: [1, 'ReattachOptions'] },
  ReattachOptions: { reattachable: [1, 'bool'] },
  Plan: { command: [2, 'Command'] },
  Command: { write_operation: [2, 'WriteOperation'], sql_command: [5, 'SqlCommand'] },
  SqlCommand: { input: [6, 'Relation'] },
  // The mode is an enumeration: 2 replaces what is there.
  WriteOperation: { input: [1, 'Relation'], source: [2, 'string'], path: [3, 'string'], mode: [5, 'int32'] },
  Relation: { sql: [10, 'Sql'], collect_metrics: [29, 'CollectMetrics'] },
  Sql: { query: [1, 'string'] },
  CollectMetrics: { input: [1, 'Relation'], name: [2, 'string'], metrics: [3, 'Expression[]'] },
  Expression: { expression_string: [4, 'ExpressionString'] },
  ExpressionString: { expression: [1, 'string'] },

  ExecutePlanResponse: {
    observed_metrics: [6, 'ObservedMetrics[]'],
    response_id: [13, 'string'],
    result_complete: [14, 'Empty'],
    execution_progress: [18, 'ExecutionProgress'],
  },
  ObservedMetrics: { values: [2, 'Literal[]'] },
  Literal: { long: [7, 'int64'] },
  ExecutionProgress: { stages: [1, 'Stage[]'] },
  Stage: { num_tasks: [2, 'int64'], num_completed_tasks: [3, 'int64'], input_bytes_read: [4, 'int64'] },

  ReattachExecuteRequest: {
    ...REQUEST,
    operation_id: [3, 'string'],
    client_type: [4, 'string'],
    last_response_id: [5, 'string'],
    client_observed_server_side_session_id: [6, 'string'],
  },
  // The type is an enumeration: 3 interrupts the operation that is named.
  InterruptRequest: { ...REQUEST, client_type: [3, 'string'], interrupt_type: [4, 'int32'], operation_id: [6, 'string'] },
  ReleaseSessionRequest: { ...REQUEST, client_type: [3, 'string'] },

  FetchErrorDetailsRequest: { ...REQUEST, error_id: [3, 'string'], client_type: [4, 'string'] },
  FetchErrorDetailsResponse: { root_error_idx: [1, 'int32'], errors: [2, 'ErrorOfSpark[]'] },
  ErrorOfSpark: { message: [2, 'string'], cause_idx: [4, 'int32'] },

  // What gRPC has beside a status: google.rpc.Status and google.rpc.ErrorInfo.
  Status: { details: [3, 'Any[]'] },
  Any: { type_url: [1, 'string'], value: [2, 'bytes'] },
  ErrorInfo: { metadata: [3, 'map'] },
};

const METHODS = {
  AnalyzePlan: ['AnalyzePlanRequest', 'AnalyzePlanResponse'],
  ExecutePlan: ['ExecutePlanRequest', 'ExecutePlanResponse'],
  ReattachExecute: ['ReattachExecuteRequest', 'ExecutePlanResponse'],
  Interrupt: ['InterruptRequest', 'Empty'],
  ReleaseSession: ['ReleaseSessionRequest', 'Empty'],
  FetchErrorDetails: ['FetchErrorDetailsRequest', 'FetchErrorDetailsResponse'],
} as const;

const STREAMS: ReadonlySet<string> = new Set(['ExecutePlan', 'ReattachExecute']);

/** As protobuf.js takes it. */
export function descriptor(): object {
  const messages = Object.entries(MESSAGES).map(([name, fields]) => [
    name,
    { fields: Object.fromEntries(Object.entries(fields).map(([field, [id, type]]) => [field, fieldOf(id, type)])) },
  ]);
  const methods = Object.entries(METHODS).map(([name, [requestType, responseType]]) => [
    name,
    { requestType, responseType, responseStream: STREAMS.has(name) },
  ]);
  const service = { SparkConnectService: { methods: Object.fromEntries(methods) } };
  return { nested: { spark: { nested: { connect: { nested: { ...Object.fromEntries(messages), ...service } } } } } };
}

function fieldOf(id: number, type: string): object {
  if (type === 'map') return { id, keyType: 'string', type: 'string' };
  return type.endsWith('[]') ? { id, rule: 'repeated', type: type.slice(0, -2) } : { id, type };
}
