/**
 * Parses JSONPath: all of RFC 9535, and the shorter forms that mappings use.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9535#section-2
 */
import { toBytes } from '../../core/text.ts';
import { foreignSyntax } from './dialects.ts';
import {
  FUNCTIONS,
  type FunctionName,
  isSingular,
  type Operand,
  type Operator,
  type Query,
  type Segment,
  type Selector,
  type Test,
} from './model.ts';
import { CALL, JsonPathError, LOOSE_NAME, NUMBER, OPERATOR, SHORT_NAME, SHORTHAND, Tokens, WORD } from './tokens.ts';

/**
 * `strict`: RFC 9535 only. `short`: `$.` may be missing. `loose`: besides that, a name may have any character but `.[]`, `.` may stand before
 * `[`, `@` and a lone `.` mean `$`, and spaces around the expression are ignored.
 */
export type Leniency = 'strict' | 'short' | 'loose';

/**
 * Parses an expression.
 *
 * A short expression (`name`, `customer.name`, `tags[*]`, `Country Code`) means the same with `$.` before it. Its names may contain spaces and
 * `-@:#/`.
 *
 * @throws JsonPathError
 */
export function parseJsonPath(expression: string, leniency: Leniency): Query {
  try {
    return new PathParser(expression, leniency).parse();
  } catch (error) {
    const foreign = error instanceof JsonPathError ? foreignSyntax(expression) : undefined;
    if (foreign === undefined) throw error;
    throw new JsonPathError(foreign.message, foreign.position ?? 0, foreign.hint);
  }
}

/** A segment, and how it is written behind `$`. */
export interface WrittenStep {
  readonly segment: Segment;
  readonly text: string;
}

/** The segments of a query as they are written. @throws JsonPathError */
export function parseSteps(expression: string, leniency: Leniency): readonly WrittenStep[] {
  const parser = new PathParser(expression, leniency);
  const { segments } = parser.parse();
  return segments.map((segment, i) => ({ segment, text: parser.textOf(i) }));
}

/** A reference of a record: a query on it, or on one of its ancestors. */
export interface Reference {
  /** Levels up from the record, by the `^` of `$^^.name`. */
  readonly ups: number;
  readonly query: Query;
}

/**
 * Parses a reference. Besides an expression it may begin with `$^`, which is no JSONPath and no name of a legacy mapping either.
 *
 * @throws JsonPathError
 */
export function parseReference(expression: string, leniency: Leniency): Reference {
  const text = leniency === 'loose' ? expression.trim() : expression;
  const ups = /^\$(\^+)/.exec(text)?.[1]?.length ?? 0;
  if (ups === 0) return { ups, query: parseJsonPath(text, leniency) };
  try {
    return { ups, query: parseJsonPath(`$${text.slice(ups + 1)}`, leniency) };
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new JsonPathError(error.message, error.position + ups, error.hint);
  }
}

/**
 * The expression with `$` for the record, which other engines also write as `@` or as a lone `.`; undefined: it begins with neither. A member
 * of that name is `$['@']`.
 */
export const fromRecord = (expression: string): string | undefined =>
  /^(?:@(?=$|[.[])|\.$)/.test(expression) ? `$${expression.slice(1)}` : undefined;

/** The expression without a point before a bracket, as other engines write `$.[*]` for `$[*]`. */
export const withoutPoints = (expression: string): string =>
  // Quoted texts match first and stay unchanged.
  expression.replace(/'[^']*'|"[^"]*"|\.\.\[|\.\[/g, (found) => (found === '.[' ? '[' : found));

/** Whether an ancestor so many levels above any record of an iterator is within the document. */
export const hasAncestor = ({ segments }: Query, ups: number): boolean =>
  ups <= segments.length || segments.some(({ descendant }) => descendant);

/** Deeper filters are refused: they are mistakes or attacks. */
const MAX_NESTING = 100;

class PathParser extends Tokens {
  private readonly leniency: Leniency;
  private nesting = 0;
  /** Where each segment of the query itself ends. */
  private readonly ends: number[] = [];
  /** Segments with white space within their brackets: a query that is compared may not have it. */
  private readonly spaced = new Set<Segment>();

  constructor(text: string, leniency: Leniency) {
    super(leniency === 'loose' ? text.trim() : text);
    this.leniency = leniency;
  }

  parse(): Query {
    const { text } = this;
    if (text === '') this.fail('The expression is empty', 0, 'The record itself is $');
    const half = text.search(/\p{Surrogate}/u);
    if (half >= 0) this.fail('Half of a surrogate pair is no character', half, undefined);
    const written = fromRecord(text);
    if (written !== undefined && this.leniency !== 'loose') this.failAsRecord(written);
    if (written === undefined && text[0] !== '$') {
      if (this.leniency !== 'strict') return this.short();
      this.fail('A JSONPath begins with $', 0, `Write $.${text}`);
    }
    this.at = 1;
    const segments = this.segments();
    this.end();
    return { absolute: true, segments };
  }

  /** @param written the expression with `$` */
  private failAsRecord(written: string): never {
    const isAt = this.text[0] === '@';
    const member = isAt ? "; a member of that name is $['@']" : '';
    return this.fail(isAt ? '@ stands outside of a filter' : 'A . has no name', 0, `The record itself is $: write ${written}${member}`);
  }

  /** The text of the segment at a position, after `parse`. */
  textOf(index: number): string {
    const from = index === 0 ? (/^[$@]/.test(this.text) ? 1 : 0) : (this.ends[index - 1] as number);
    const text = this.text.slice(from, this.ends[index]).trim();
    return /^[.[]/.test(text) ? text.replace(/^\.(?=\[)/, '') : `.${text}`;
  }

  /** An expression without `$`. It begins with `.`, `[` or a name. */
  private short(): Query {
    const first: Segment[] = [];
    if (this.text[0] !== '.' && this.text[0] !== '[') {
      first.push({ descendant: false, selectors: [this.dotted()] });
      this.ends.push(this.at);
    }
    const segments = [...first, ...this.segments()];
    this.end();
    return { absolute: true, segments };
  }

  /** @throws JsonPathError — the expression goes on here */
  private end(): void {
    if (this.at === this.text.length) return;
    const rest = this.text.slice(this.at);
    if (rest[0] === ']') this.fail('There is a "]" without its "["', this.at, 'Remove it');
    const name = /^[^.[]*/.exec(this.text.slice(this.text.lastIndexOf('.', this.at) + 1))?.[0] ?? rest;
    this.fail(
      `JSONPath does not understand ${JSON.stringify(rest.slice(0, 40))}`,
      this.at,
      `A name with such characters is written $['${name}']`,
    );
  }

  private segments(): Segment[] {
    const segments: Segment[] = [];
    for (;;) {
      const before = this.at;
      this.space();
      if (this.take('..')) {
        segments.push(this.text[this.at] === '[' ? this.bracketed(true) : { descendant: true, selectors: [this.dotted()] });
      } else if (this.take('.')) {
        // `$.[*]` is not JSONPath, but many older mappings have it.
        const isBracketed = this.leniency === 'loose' && this.text[this.at] === '[';
        segments.push(isBracketed ? this.bracketed(false) : { descendant: false, selectors: [this.dotted()] });
      } else if (this.text[this.at] === '[') segments.push(this.bracketed(false));
      else {
        this.at = before;
        return segments;
      }
      if (this.nesting === 0) this.ends.push(this.at);
    }
  }

  /** The selector after a dot. */
  private dotted(): Selector {
    if (this.take('*')) return { kind: 'wildcard' };
    const lenient = this.nesting === 0 && (this.leniency === 'loose' || (this.leniency === 'short' && this.text[0] !== '$'));
    const name = this.match(lenient ? (this.leniency === 'loose' ? LOOSE_NAME : SHORT_NAME) : SHORTHAND);
    if (name === undefined) {
      const isEnd = this.at === this.text.length;
      this.fail(
        'There is no name here',
        this.at,
        isEnd ? 'Remove the point at the end' : "A name with special characters is written ['name']",
      );
    }
    return { kind: 'name', name: toBytes(lenient ? name.trim() : name) };
  }

  /** The segment of the selectors in brackets, from `[` to `]`. */
  private bracketed(descendant: boolean): Segment {
    const open = this.at++;
    const selectors: Selector[] = [];
    let spaced = false;
    do {
      if (this.space()) spaced = true;
      selectors.push(this.selector(open));
      if (this.space()) spaced = true;
    } while (this.take(','));
    if (!this.take(']')) this.fail('The "[" has no "]"', this.at < this.text.length ? this.at : open, undefined);
    const segment = { descendant, selectors };
    if (spaced) this.spaced.add(segment);
    return segment;
  }

  private selector(open: number): Selector {
    const c = this.text[this.at];
    if (c === undefined) this.fail('The "[" has no "]"', open, undefined);
    if (c === "'" || c === '"') return { kind: 'name', name: this.string() };
    if (this.take('*')) return { kind: 'wildcard' };
    if (this.take('?')) {
      this.space();
      return { kind: 'filter', test: this.or() };
    }
    const start = this.integer();
    const afterStart = this.at;
    this.space();
    if (!this.take(':')) {
      this.at = afterStart;
      if (start === undefined) this.fail('There is no selector here', this.at, `A name stands in quotes: ['name']; all elements are [*]`);
      return { kind: 'index', index: start };
    }
    this.space();
    const end = this.integer();
    const afterEnd = this.at;
    this.space();
    let step = 1;
    if (this.take(':')) {
      this.space();
      step = this.integer() ?? 1;
    } else this.at = afterEnd;
    return { kind: 'slice', start, end, step };
  }

  private or(): Test {
    this.enter();
    const tests = [this.and()];
    while (this.operator('||')) tests.push(this.and());
    this.nesting--;
    return tests.length === 1 ? (tests[0] as Test) : { kind: 'or', tests };
  }

  private enter(): void {
    if (++this.nesting > MAX_NESTING) this.fail('The filter is nested too deeply', this.at, undefined);
  }

  private and(): Test {
    const tests = [this.basic()];
    while (this.operator('&&')) tests.push(this.basic());
    return tests.length === 1 ? (tests[0] as Test) : { kind: 'and', tests };
  }

  private operator(text: string): boolean {
    const before = this.at;
    this.space();
    if (!this.take(text)) {
      this.at = before;
      return false;
    }
    this.space();
    return true;
  }

  private basic(): Test {
    if (this.text[this.at] === '!' && this.text[this.at + 1] !== '=') {
      this.at++;
      this.space();
      const at = this.at;
      const test = this.text[at] === '(' ? this.parenthesised() : this.testOrComparison();
      if (test.kind === 'compare')
        this.fail('"!" stands before a comparison', at, 'Put the comparison in parentheses, or turn its operator round');
      return { kind: 'not', test };
    }
    return this.text[this.at] === '(' ? this.parenthesised() : this.testOrComparison();
  }

  private parenthesised(): Test {
    const open = this.at++;
    this.space();
    const test = this.or();
    this.space();
    if (!this.take(')')) this.fail('The "(" has no ")"', open, undefined);
    // Wrapped, so that "!" may stand before a comparison in parentheses.
    return test.kind === 'compare' ? { kind: 'and', tests: [test] } : test;
  }

  private testOrComparison(): Test {
    const at = this.at;
    const left = this.operand();
    const afterLeft = this.at;
    this.space();
    const operator = this.match(OPERATOR) as Operator | undefined;
    if (operator === undefined) {
      this.at = afterLeft;
      if (left.kind === 'query') return { kind: 'exists', query: left.query };
      if (left.kind === 'call' && FUNCTIONS[left.call.name].result === 'logical') return { kind: 'call', call: left.call };
      return this.fail('A value alone is no test', at, 'Compare it with something');
    }
    this.space();
    const rightAt = this.at;
    const right = this.operand();
    this.comparable(left, at);
    this.comparable(right, rightAt);
    return { kind: 'compare', operator, left, right };
  }

  /** @throws JsonPathError — the operand at `at` is not a single value */
  private comparable(operand: Operand, at: number): void {
    if (operand.kind === 'query' && !isSingular(operand.query)) {
      this.fail('A query that may find several nodes cannot be compared', at, 'Name one node, or use count() or value()');
    }
    if (operand.kind === 'query' && this.leniency !== 'loose' && operand.query.segments.some((segment) => this.spaced.has(segment))) {
      this.fail('A query that is compared has white space within its brackets', at, 'Remove it');
    }
    if (operand.kind === 'call' && FUNCTIONS[operand.call.name].result === 'logical') {
      this.fail(`${operand.call.name}() is true or false already and cannot be compared`, at, undefined);
    }
  }

  private operand(): Operand {
    const c = this.text[this.at];
    if (c === '@' || c === '$') {
      this.at++;
      this.nesting++;
      const segments = this.segments();
      this.nesting--;
      return { kind: 'query', query: { absolute: c === '$', segments } };
    }
    if (c === "'" || c === '"') return { kind: 'literal', value: this.string() };
    const word = this.match(WORD);
    if (word !== undefined) return { kind: 'literal', value: word === 'null' ? null : word === 'true' };
    const number = this.match(NUMBER);
    if (number !== undefined) return { kind: 'number', text: number };
    return this.call();
  }

  private call(): Operand {
    const at = this.at;
    const name = this.match(CALL);
    if (name === undefined)
      this.fail('There is no value, query or function here', at, 'A filter compares for example @.age with 18: [?@.age > 18]');
    if (!Object.hasOwn(FUNCTIONS, name)) {
      this.fail(
        `There is no function ${name}()`,
        at,
        `JSONPath has ${Object.keys(FUNCTIONS)
          .map((known) => `${known}()`)
          .join(', ')}`,
      );
    }
    const { parameters } = FUNCTIONS[name as FunctionName];
    this.enter();
    this.at++;
    const operands: Operand[] = [];
    this.space();
    if (this.text[this.at] !== ')') {
      do {
        this.space();
        const operandAt = this.at;
        const operand = this.operand();
        this.argument(name, parameters[operands.length], operand, operandAt);
        operands.push(operand);
        this.space();
      } while (this.take(','));
    }
    if (operands.length !== parameters.length)
      this.fail(`${name}() takes ${parameters.length} arguments, not ${operands.length}`, at, undefined);
    if (!this.take(')')) this.fail(`${name}( has no ")"`, this.at, undefined);
    this.nesting--;
    return { kind: 'call', call: { name: name as FunctionName, operands } };
  }

  private argument(name: string, parameter: 'value' | 'nodes' | undefined, operand: Operand, at: number): void {
    if (parameter === 'nodes' && operand.kind !== 'query') this.fail(`${name}() takes a query`, at, undefined);
    if (parameter === 'value') this.comparable(operand, at);
  }
}
