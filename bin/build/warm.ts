/** A step of the build: a first run, after which the compilation of the engine is kept beside its script. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const QUADMILL = fileURLToPath(new URL('../../../bin/quadmill.js', import.meta.url));
const BUNDLE = fileURLToPath(new URL('../bundle/', import.meta.url));

/** What most mappings of CSV use: classes, literals with datatypes, templates, a join. */
const MAPPING = `
@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://example.com/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#Person> a rml:TriplesMap ;
  rml:logicalSource [ a rml:LogicalSource ; rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://example.com/person/{id}" ; rml:class ex:Person ] ;
  rml:predicateObjectMap [ rml:predicate ex:id ; rml:objectMap [ rml:reference "id" ; rml:datatype xsd:integer ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:city ; rml:objectMap [ rml:template "http://example.com/city/{city}" ; rml:termType rml:IRI ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:boss ;
    rml:objectMap [ rml:parentTriplesMap <#Person> ; rml:joinCondition [ rml:child "boss" ; rml:parent "id" ] ] ] .
`;
const ROWS = 'id,name,city,boss\n1,Ada,Porto,\n2,"Lovelace, ""A.""",São Paulo,1\n';

const directory = mkdtempSync(join(tmpdir(), 'quadmill-build-'));
try {
  writeFileSync(join(directory, 'mapping.ttl'), MAPPING);
  writeFileSync(join(directory, 'people.csv'), ROWS);
  const { status, stderr } = spawnSync(process.execPath, [QUADMILL, 'run', 'mapping.ttl', '-o', 'out.nq'], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the first run ended with code ${status}: ${stderr}`);
  if (!readdirSync(BUNDLE).some((name) => name.endsWith('.cache'))) throw new Error('the first run kept no compilation');
} finally {
  rmSync(directory, { recursive: true, force: true });
}
