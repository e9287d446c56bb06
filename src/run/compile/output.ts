/** The statements of an output, as text of its format, in the order in which they are made. */
import type { WriteStatement } from '../../sinks/formats/conversion.ts';
import type { StatementPattern, StatementWriter } from '../../sinks/formats/format.ts';
import type { RuleWriter } from '../distinct/spill.ts';

/** Writes quoted triples in RDF 1.2: `nodes/reify.ts`. */
export interface Reifier {
  /** The line in RDF 1.2, behind those of its reifiers that are new. @param mark of the output */
  rewrite(line: string, mark: string): readonly string[];
}

/** Statements that have all but the subject and the object's value in common. */
export interface OutputPattern {
  readonly output: OutputText;
  /** Between the subject and the object's value in N-Quads, and behind it: with a space in front, and the line feed. */
  readonly lead: string;
  readonly tail: string;
  /** undefined: the statement is written as this line. */
  readonly write: WriteStatement | undefined;
  /** What `OutputText.pattern` was made of. */
  readonly of: StatementPattern;
}

export class OutputText {
  /** What was made since `take`. */
  text = '';
  /** Number of statements. */
  statements = 0;
  /** In front of a line that is kept as text elsewhere: says which output it is for. The output of the run has none. */
  readonly mark: string;
  /** undefined: N-Quads. */
  readonly #writer: StatementWriter | undefined;
  /** undefined: no rule is reified. */
  readonly #reifier: Reifier | undefined;

  /** @param number 0: the output of the run; n: its n-th target */
  constructor(number: number, writer: StatementWriter | undefined, reifier: Reifier | undefined) {
    this.mark = number === 0 ? '' : `${number} `;
    this.#writer = writer;
    this.#reifier = reifier;
  }

  /** @param reified of `RulePlan` */
  pattern(pattern: StatementPattern, reified: boolean): OutputPattern {
    const { predicate, before, after, graph } = pattern;
    const lead = ` ${predicate} ${before}`;
    const tail = `${after}${graph === '' ? '' : ` ${graph}`} .\n`;
    const write: WriteStatement | undefined =
      reified && this.#reifier !== undefined
        ? (subject, value) => this.#converted(subject + lead + value + tail)
        : this.#writer?.pattern(pattern);
    return { output: this, lead, tail, write, of: pattern };
  }

  /** A statement as a line. */
  addLine(line: string): void {
    this.statements++;
    this.text += this.#converted(line);
  }

  /** Statements as lines. Returns false, and adds nothing, if each needs to be converted. */
  addLines(lines: string): boolean {
    if (this.#writer !== undefined || this.#reifier !== undefined) return false;
    for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', at + 1)) this.statements++;
    this.text += lines;
    return true;
  }

  /** What was made, as a piece that stands for itself. */
  take(): string {
    const text = this.#writer === undefined ? this.text : this.text + this.#writer.close();
    this.text = '';
    return text;
  }

  #converted(line: string): string {
    let lines = line;
    if (this.#reifier !== undefined) {
      const made = this.#reifier.rewrite(line, this.mark);
      this.statements += made.length - 1;
      lines = made.join('');
    }
    return this.#writer === undefined ? lines : this.#writer.lines(lines);
  }
}

/** What is written of a statement now. It is the next that is added to the text of its output. */
export function textOf({ output, lead, tail, write }: OutputPattern, subject: string, value: string): string {
  output.statements++;
  return write === undefined ? subject + lead + value + tail : write(subject, value);
}

/** The line of a statement, with the mark of its output. */
export const keptOf = ({ output, lead, tail }: OutputPattern, subject: string, value: string): string =>
  output.mark + subject + lead + value + tail;

/** Writes statements with a pattern. */
export const writerOf = (pattern: OutputPattern): RuleWriter => ({
  write(subject, value) {
    pattern.output.text += textOf(pattern, subject, value);
  },
  lineOf: (subject, value) => keptOf(pattern, subject, value),
});

/** The same as `textOf` for statements of a subject: those with the values in [`from`, `to`). */
export function textsOf(
  { output, lead, tail, write }: OutputPattern,
  subject: string,
  values: readonly string[],
  from: number,
  to: number,
): string {
  output.statements += to - from;
  let made = '';
  const start = subject + lead;
  for (let k = from; k < to; k++) made += write === undefined ? start + values[k] + tail : write(subject, values[k] as string);
  return made;
}

/** The program of a triples map: counts statements, and knows those that other rules may make. */
export interface StatementOwner {
  quads: number;
  /** Writes a statement. */
  put(pattern: OutputPattern, subject: string, value: string): void;
  /** Writes a statement that is new to the run. One that no table decides goes to the spill. */
  putOnce(pattern: OutputPattern, subject: string, value: string): void;
  /** The same, for a statement as a line. */
  once(output: OutputText, line: string): void;
}

/** Adds lines that were kept, each with the mark of its output. */
export function addKept(outputs: readonly OutputText[], lines: string): void {
  // There are no marks.
  if (outputs.length === 1 && (outputs[0] as OutputText).addLines(lines)) return;
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf('\n', from) + 1;
    const start = isDigit(lines.charCodeAt(from)) ? lines.indexOf(' ', from) + 1 : from;
    const number = start === from ? 0 : Number(lines.slice(from, start));
    (outputs[number] as OutputText).addLine(lines.slice(start, end));
    from = end;
  }
}

/** No line of N-Quads begins with one. */
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
