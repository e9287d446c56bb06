/** `quadmill explain`: how a mapping would be carried out, without reading any input. */
import { explainPlan } from '../src/plan/explain.ts';
import { loadMapping } from '../src/run/load.ts';
import { DEFAULT_BASE } from '../src/run/request.ts';
import { type Command, helpOf, parseCommandLine, UsageError } from './command-line.ts';
import { EXIT } from './exit.ts';

const EXPLAIN: Command = {
  name: 'explain',
  usage: 'explain MAPPING… [options]',
  summary: 'Shows which inputs a mapping reads, what each record feeds, and how joins and duplicates are handled. No input is read.',
  options: {
    base: { value: 'IRI', summary: `base of relative IRIs, default ${DEFAULT_BASE}` },
  },
};

export async function explain(argv: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(EXPLAIN, argv);
  if (parsed.has('help')) {
    process.stdout.write(helpOf(EXPLAIN));
    return EXIT.done;
  }
  if (parsed.positionals.length === 0) throw new UsageError('explain needs a mapping');
  const base = parsed.value('base') ?? DEFAULT_BASE;
  const { mapping } = await loadMapping(parsed.positionals, base, process.cwd());
  process.stdout.write(explainPlan(mapping, base));
  return EXIT.done;
}
