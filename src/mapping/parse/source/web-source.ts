/**
 * Sources that are described as a distribution of a data catalogue (DCAT), or as a thing of the Web of Things with a form over HTTP, in
 * either RML vocabulary.
 *
 * @see https://kg-construct.github.io/rml-io-registry/ and https://www.w3.org/TR/vocab-dcat-3/ and https://www.w3.org/TR/wot-thing-description11/
 */

import type { Graph, Statement } from '../../model/graph.ts';
import type { FileSource } from '../../model/model.ts';
import { shorten } from '../../vocabulary/namespaces.ts';
import type { Context } from '../node.ts';
import {
  all,
  describedBy,
  full,
  isDescribedAs,
  LOGIN_HINT,
  membersOf,
  misspelt,
  one,
  urlOf,
  type WebAccess,
  wordOf,
} from './description.ts';
import { readPaging } from './paging.ts';
import { topicOf } from './topic-source.ts';

type Compression = FileSource['compression'];

const DISTRIBUTION = [full('dcat', 'Distribution'), full('dcat', 'Dataset')];
const DOWNLOAD = full('dcat', 'downloadURL');
const ACCESS = full('dcat', 'accessURL');
const OF_DATASET = full('dcat', 'distribution');

export const isDistribution = (graph: Graph, id: string): boolean => isDescribedAs(graph, id, DISTRIBUTION, [DOWNLOAD, ACCESS, OF_DATASET]);

/** The document of a dcat:Distribution, or of the only distribution of a dcat:Dataset. A download comes before an access URL. */
export function readDistribution(context: Context, id: string, named: Statement): WebAccess | undefined {
  const { graph, report } = context;
  const outer = one(context, id, OF_DATASET, 'dataset');
  if (outer !== undefined && all(graph, id, DOWNLOAD).length + all(graph, id, ACCESS).length === 0) {
    const inner = describedBy(context, outer);
    return inner === undefined ? undefined : readDistribution(context, inner, outer);
  }
  const download = one(context, id, DOWNLOAD, 'distribution');
  const access = one(context, id, ACCESS, 'distribution');
  const statement = download ?? access;
  if (statement === undefined) {
    const hint = misspelt(
      graph,
      id,
      ['dcat:downloadURL', 'dcat:accessURL'],
      'write [ a dcat:Distribution ; dcat:downloadURL <https://…> ]',
    );
    report.error('missing-path', named.origin, 'a distribution without dcat:downloadURL and dcat:accessURL', hint);
    return undefined;
  }
  const url = urlOf(context, statement);
  const mediaType = mediaTypeOf(context, id, 'mediaType');
  const compression = packingOf(mediaTypeOf(context, id, 'compressFormat'), mediaTypeOf(context, id, 'packageFormat'));
  return url === undefined ? undefined : { url, compression, request: { kind: 'get', headers: [], mediaType } };
}

const IANA = /^https?:\/\/(?:www\.)?iana\.org\/assignments\/media-types\//i;

/** `text/csv`: as a text, or as the IRI that IANA gives it. */
function mediaTypeOf(context: Context, id: string, name: string): string | undefined {
  const statement = one(context, id, full('dcat', name), 'distribution');
  return statement === undefined ? undefined : wordOf(context, statement, 'a media type')?.replace(IANA, '').toLowerCase();
}

function packingOf(compress: string | undefined, pack: string | undefined): Compression {
  const isTar = /tar$/.test(pack ?? '');
  if (/gzip$/.test(compress ?? '')) return isTar ? 'targz' : 'gzip';
  if (/xz$/.test(compress ?? '') && isTar) return 'tarxz';
  return /zip$/.test(compress ?? pack ?? '') ? 'zip' : 'none';
}

const THING = [full('td', 'Thing')];
const AFFORDANCE = full('td', 'hasPropertyAffordance');
const FORM = full('td', 'hasForm');
const TARGET = full('hctl', 'hasTarget');
const SECURITY = ['hasSecurityConfiguration', 'securityDefinitions', 'security'].map((name) => full('td', name));

export const isThing = (graph: Graph, id: string): boolean => isDescribedAs(graph, id, THING, [AFFORDANCE, FORM]);

/** Streams that never end are no documents. */
const STREAMS: Readonly<Record<string, string>> = { mqtt: 'MQTT', mqtts: 'MQTT', coap: 'CoAP', coaps: 'CoAP', tcp: 'TCP' };

/** The only form of the only property of a td:Thing: a target, headers, a media type. */
export function readThing(context: Context, id: string, named: Statement): WebAccess | undefined {
  const { graph, report } = context;
  const holders = [id, ...all(graph, id, AFFORDANCE).flatMap((statement) => describedBy(context, statement) ?? [])];
  const forms = holders.flatMap((holder) => all(graph, holder, FORM));
  const [form, second] = forms;
  if (second !== undefined) {
    report.error(
      'too-many',
      second.origin,
      'a second td:hasForm on one source, which is read by one of them',
      'describe a source for each',
    );
  }
  for (const { propertyOrigin, property } of holders.flatMap((holder) => SECURITY.flatMap((name) => all(graph, holder, name)))) {
    report.warning('unused-term', propertyOrigin, `${shorten(property)} has no effect here`, LOGIN_HINT);
  }
  if (form === undefined) {
    const hint = 'write [ a td:Thing ; td:hasPropertyAffordance [ td:hasForm [ hctl:hasTarget "https://…" ] ] ]';
    report.error('missing-path', named.origin, 'a td:Thing without td:hasForm', hint);
    return undefined;
  }
  const node = describedBy(context, form);
  return node === undefined ? undefined : readForm(context, node, form);
}

function readForm(context: Context, id: string, form: Statement): WebAccess | undefined {
  const { graph, report } = context;
  const before = report.errors;
  const target = one(context, id, TARGET, 'form');
  if (target === undefined) {
    const hint = misspelt(graph, id, ['hctl:hasTarget'], 'write td:hasForm [ hctl:hasTarget "https://…" ]');
    report.error('missing-path', form.origin, 'a form without hctl:hasTarget', hint);
    return undefined;
  }
  const url = urlOf(context, target);
  if (url === undefined) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (scheme === 'kafka') {
    const typeStatement = one(context, id, full('hctl', 'forContentType'), 'form');
    const mediaType = typeStatement === undefined ? undefined : wordOf(context, typeStatement, 'a media type')?.toLowerCase();
    return report.errors > before ? undefined : topicOf(context, url, target, mediaType, typeStatement);
  }
  if (scheme !== 'http' && scheme !== 'https') {
    const what = Object.hasOwn(STREAMS, scheme)
      ? `${STREAMS[scheme]} as a source`
      : `a form with a target of the scheme ${JSON.stringify(scheme)}`;
    const hint = 'hctl:hasTarget takes an http:, https: or kafka: URL; write messages of other streams to files, and map these';
    report.error('not-supported', target.origin, `${what} is not supported by this version`, hint);
    return undefined;
  }
  const secret = SECRET_PARAMETER.exec(url)?.[1];
  if (secret !== undefined) {
    const message = `the URL of hctl:hasTarget has the parameter ${secret}, and mappings hold no logins, since all their readers would know them`;
    report.error('secret', target.origin, message, 'remove it; the option SOURCE_LOGINS takes `https://host/path ?parameter=value`');
  }
  checkMethod(context, id);
  const typeStatement = one(context, id, full('hctl', 'forContentType'), 'form');
  const mediaType = typeStatement === undefined ? undefined : wordOf(context, typeStatement, 'a media type')?.toLowerCase();
  if (typeStatement !== undefined && mediaType?.startsWith('text/event-stream')) {
    report.error('not-supported', typeStatement.origin, 'a stream of server-sent events as a source is not supported by this version');
  }
  const headers = readHeaders(context, id);
  const paging = readPaging(context, id);
  if (report.errors > before) return undefined;
  return { url, compression: 'none', request: { kind: 'get', headers, mediaType, ...(paging === undefined ? {} : { paging }) } };
}

function checkMethod(context: Context, id: string): void {
  const statement = one(context, id, full('htv', 'methodName'), 'form');
  const method = statement === undefined ? undefined : wordOf(context, statement, 'the name of a method');
  if (statement === undefined || method === undefined || method.toUpperCase() === 'GET') return;
  const message = `the method ${JSON.stringify(method)} of a form is not supported: reading a source must not change anything`;
  context.report.error('not-supported', statement.origin, message, 'write htv:methodName "GET", or leave it out');
}

/** Set by the client, or they would change what the answer is. */
const OF_CLIENT =
  /^(?:host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|expect|range|if-.*|accept-encoding|keep-alive)$/i;
const SECRET_PARAMETER = /[?&](api[-_]?key|access[-_]?token|client[-_]?secret|passw(?:or)?d|pwd)=[^&#]/i;
const SECRET = /^(?:cookie|proxy-.*)$|auth|token|secret|passw|credential|signature|session|api-?key/i;

function readHeaders(context: Context, id: string): readonly (readonly [string, string])[] {
  const { graph, report } = context;
  const headers: [string, string][] = [];
  for (const statement of all(graph, id, full('htv', 'headers')).flatMap((one) => membersOf(context, one))) {
    const node = describedBy(context, statement);
    if (node === undefined) continue;
    const [name, value] = ['fieldName', 'fieldValue'].map((local) => one(context, node, full('htv', local), 'header'));
    if (name === undefined || value === undefined) {
      report.error('missing-header', statement.origin, 'a header takes htv:fieldName and htv:fieldValue');
      continue;
    }
    const [field, text] = [wordOf(context, name, 'the name of a header'), wordOf(context, value, 'a text in quotes')];
    if (field === undefined || text === undefined) continue;
    if (SECRET.test(field)) {
      const message = `the header ${field} may hold a secret, and mappings hold none, since all readers of a mapping would know it`;
      report.error('secret', name.origin, message, `remove it; ${LOGIN_HINT}`);
    } else if (OF_CLIENT.test(field)) {
      report.error('wrong-value', name.origin, `the header ${field} cannot be set: it belongs to the connection`, 'remove it');
    } else if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(field)) {
      report.error('wrong-value', name.origin, `${JSON.stringify(field)} is no name of a header`);
    } else if (!/^[\t\x20-\x7e]*$/.test(text)) {
      report.error('wrong-value', value.origin, `the value of the header ${field} is not one line of ASCII characters`);
    } else headers.push([field, text]);
  }
  return headers;
}
