/**
 * OpenTelemetry spans: an HTTP request, the run that it starts, its transform job and its slices form one trace.
 *
 * Only the API package is used. Unless the operator registers an SDK before the process starts, all of this does nothing.
 */
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Fault } from '../fault.ts';

export const TRACER = 'quadmill';

/** Whether an SDK is registered. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider() as { getDelegateTracer?(name: string): unknown };
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer(TRACER) !== undefined;
}

/**
 * Runs `work` in a server span whose parent is the span in the request headers. `work` returns the HTTP status.
 *
 * @param route the pattern of the route: the path itself may contain private data
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
export async function inRequestSpan(
  request: { readonly method: string; readonly route: string; readonly headers: Readonly<Record<string, unknown>> },
  work: () => Promise<number>,
): Promise<void> {
  const { method, route, headers } = request;
  const attributes = { 'http.request.method': method, 'http.route': route };
  const parent = propagation.extract(context.active(), headers);
  const span = trace.getTracer(TRACER).startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
  const end = (status: number): void => {
    span.setAttribute('http.response.status_code', status);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
  try {
    end(await context.with(trace.setSpan(parent, span), work));
  } catch (error) {
    end(error instanceof Fault ? error.status : 500);
    throw error;
  }
}

export interface TracedWork {
  readonly run: string;
  readonly slice?: number;
  /** Starts of the job, including this one. */
  readonly attempt?: number;
}

/** Adds the run id to the active span. */
export function traceRun({ run, slice, attempt }: TracedWork): void {
  trace.getActiveSpan()?.setAttributes({ 'quadmill.run': run, 'quadmill.slice': slice, 'quadmill.attempt': attempt });
}

/** Binds a function to the active span, for callers outside of it. */
export function inPresentSpan<A extends readonly unknown[], R>(act: (...given: A) => R): (...given: A) => R {
  return context.bind(context.active(), act);
}
