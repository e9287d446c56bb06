/**
 * Spans of OpenTelemetry: an HTTP request, the run that it starts, its transform job and its slices are one trace.
 *
 * Only the interface is used. Without an SDK, which whoever runs the process registers before it starts, all of this does nothing.
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
 * Does `work` in a span of a request, below the one that its headers name. `work` gives the status of the answer.
 *
 * @param route the pattern of the route: a path may hold what is nobody else's business
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
  /** Starts of the job, this one included. */
  readonly attempt?: number;
}

/** Says on the present span which run it is about. */
export function traceRun({ run, slice, attempt }: TracedWork): void {
  trace.getActiveSpan()?.setAttributes({ 'quadmill.run': run, 'quadmill.slice': slice, 'quadmill.attempt': attempt });
}

/** The same function, in the present span also where it is called by somebody else. */
export function inPresentSpan<A extends readonly unknown[], R>(act: (...given: A) => R): (...given: A) => R {
  return context.bind(context.active(), act);
}
