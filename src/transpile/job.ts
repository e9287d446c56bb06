/** The files of a job: what an engine runs, and how. */
import type { Transpiled } from './transpile.ts';

export interface JobFile {
  readonly name: string;
  readonly text: string;
}

/** @param mappings their names, for people */
export function jobFiles(transpiled: Transpiled, mappings: readonly string[]): readonly JobFile[] {
  return transpiled.dialect.name === 'spark' ? sparkFiles(transpiled, mappings) : duckdbFiles(transpiled, mappings);
}

const statementsOf = ({ dialect, preparation, query, targets }: Transpiled): readonly string[] => [
  ...preparation,
  dialect.write(query),
  ...targets.map((target) => dialect.write(target.query, target.name)),
];

const script = (statements: readonly string[]): string => statements.map((statement) => `${statement};\n`).join('\n');

const madeOf = (mappings: readonly string[], comment: string): string =>
  `${comment} Made by quadmill compile of ${mappings.map((name) => name.replaceAll(/[\r\n]/g, ' ')).join(', ')}: change the mapping, not this file.\n`;

function sparkFiles(transpiled: Transpiled, mappings: readonly string[]): readonly JobFile[] {
  const all = statementsOf(transpiled);
  const sql = `${madeOf(mappings, '--')}-- Statements go to this directory, which is overwritten.\nSET quadmill.output = graph;\n\n${script(all)}`;
  const python = `${madeOf(mappings, '#')}"""Maps files of a lake to N-Quads. Usage: spark-submit quadmill.py --output DIRECTORY"""
import argparse

from pyspark.sql import SparkSession

STATEMENTS = [
${all.map((statement) => `    ${JSON.stringify(statement)},\n`).join('')}]

parser = argparse.ArgumentParser(description="Maps files of a lake to N-Quads.")
parser.add_argument("--output", required=True, help="directory of the statements, which is overwritten")
output = parser.parse_args().output
if any(character in output for character in "'\\\\$"):
    parser.error("--output may not have quotes, backslashes or dollars")

spark = SparkSession.builder.appName("quadmill").getOrCreate()
spark.conf.set("quadmill.output", output)
for statement in STATEMENTS:
    spark.sql(statement)
spark.stop()
`;
  return [
    { name: 'quadmill.py', text: python },
    { name: 'quadmill.sql', text: sql },
    { name: 'README.md', text: SPARK_README },
  ];
}

const SPARK_README = `# A mapping as a job of Apache Spark

\`quadmill.py\` reads the sources and writes a directory of N-Quads: parts and \`_SUCCESS\`. It needs Spark 4.0 or later; for numbers of JSON with more than 15
digits, on Java 21. \`quadmill.sql\` has the same statements for an SQL shell or a notebook: set \`quadmill.output\` in its first line.

    spark-submit quadmill.py --output s3a://lake/graph
    aws emr-serverless start-job-run … --job-driver '{"sparkSubmit": {"entryPoint": "s3://lake/quadmill.py", "entryPointArguments": ["--output", "s3://lake/graph"]}}'
    databricks jobs submit --json '{"tasks": [{"task_key": "quadmill", "spark_python_task": {"python_file": "dbfs:/quadmill.py", "parameters": ["--output", "s3://lake/graph"]}, …}]}'

The operator for Kubernetes takes it as an application:

    spec: {type: Python, mode: cluster, mainApplicationFile: s3a://lake/quadmill.py, arguments: [--output, s3a://lake/graph], …}

Statements of logical targets go to directories beside it, each with its \`_SUCCESS\`: \`graph-people.nq\` for a target \`people.nq\`. They are written one after the other.

A value that gives no valid term ends the job, and its message names the statement of the mapping. Then the directory that it was to write is not there.

    quadmill write DIRECTORY --target http://localhost:3030/ds --type fuseki

writes the output to a store.
`;

function duckdbFiles(transpiled: Transpiled, mappings: readonly string[]): readonly JobFile[] {
  return [
    { name: 'quadmill.sql', text: `${madeOf(mappings, '--')}${script(statementsOf(transpiled))}` },
    {
      name: 'README.md',
      text: `# A mapping as a script of DuckDB

    duckdb -bail -f quadmill.sql

reads the sources and writes \`graph.nq\` into the working directory, and \`graph-NAME\` for a logical target NAME. It needs DuckDB 1.3 or later. A value that gives no valid term ends the script, and its
message names the statement of the mapping.
`,
    },
  ];
}
