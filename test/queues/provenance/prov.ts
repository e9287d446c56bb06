/** Reads provenance, and checks the constraints of PROV (W3C Recommendation "Constraints of the PROV Data Model") that its statements can break. */
import { Parser } from 'n3';

const PROV = 'http://www.w3.org/ns/prov#';
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

export interface Provenance {
  readonly graphs: readonly string[];
  /** Subjects of a type of PROV. */
  all(type: string): readonly string[];
  /** Objects, as texts, of a property: a whole IRI, or a name of PROV. */
  of(subject: string, property: string): readonly string[];
  /** What contradicts a constraint. */
  problems(): readonly string[];
}

export function readProvenance(text: string): Provenance {
  const quads = new Parser({ format: 'N-Quads' }).parse(text);
  const whole = (name: string): string => (name.includes(':') ? name : PROV + name);
  const of = (subject: string, property: string): readonly string[] =>
    quads.filter((quad) => quad.subject.value === subject && quad.predicate.value === whole(property)).map(({ object }) => object.value);
  const all = (type: string): readonly string[] => [
    ...new Set(
      quads.filter(({ predicate, object }) => predicate.value === TYPE && object.value === whole(type)).map(({ subject }) => subject.value),
    ),
  ];
  const pairs = (property: string): readonly (readonly [string, string])[] =>
    quads.filter(({ predicate }) => predicate.value === whole(property)).map(({ subject, object }) => [subject.value, object.value]);
  const timeOf = (subject: string, property: string): number | undefined => {
    const [first] = of(subject, property);
    return first === undefined ? undefined : Date.parse(first);
  };

  /** Domain and range of each property, by the table of inferences 50 (typing). */
  const TYPED: readonly (readonly [property: string, domain: string, range: string])[] = [
    ['used', 'Activity', 'Entity'],
    ['wasGeneratedBy', 'Entity', 'Activity'],
    ['wasDerivedFrom', 'Entity', 'Entity'],
    ['wasAttributedTo', 'Entity', 'Agent'],
    ['wasAssociatedWith', 'Activity', 'Agent'],
    ['wasInformedBy', 'Activity', 'Activity'],
    ['specializationOf', 'Entity', 'Entity'],
    ['hadPlan', 'Association', 'Plan'],
    ['agent', 'Association', 'Agent'],
    ['qualifiedAssociation', 'Activity', 'Association'],
  ];

  const problems = (): readonly string[] => {
    const found: string[] = [];
    const check = (holds: boolean, problem: string): void => void (holds || found.push(problem));
    for (const [property, domain, range] of TYPED) {
      for (const [subject, object] of pairs(property)) {
        check(all(domain).includes(subject), `${subject} has ${property} and is no ${domain}`);
        check(all(range).includes(object), `${object} is the object of ${property} and no ${range}`);
      }
    }
    // 55: entities and activities are disjoint.
    for (const one of all('Entity')) check(!all('Activity').includes(one), `${one} is an entity and an activity`);
    // 23, 28, 29: one time of each kind.
    for (const property of ['generatedAtTime', 'startedAtTime', 'endedAtTime']) {
      for (const [subject] of pairs(property)) check(new Set(of(subject, property)).size === 1, `${subject} has several ${property}`);
    }
    // 30: an activity starts before it ends.
    for (const one of all('Activity')) {
      const [from, to] = [timeOf(one, 'startedAtTime'), timeOf(one, 'endedAtTime')];
      check(from !== undefined && to !== undefined && from <= to, `${one} ends before it starts, or has no times`);
    }
    // 33, 34: usage and generation within the activity; 37: generation before usage.
    for (const [entity, activity] of pairs('wasGeneratedBy')) {
      const at = timeOf(entity, 'generatedAtTime') ?? Number.NaN;
      const [from, to] = [timeOf(activity, 'startedAtTime') ?? Number.NaN, timeOf(activity, 'endedAtTime') ?? Number.NaN];
      check(from <= at && at <= to, `${entity} is generated outside of ${activity}`);
    }
    for (const [activity, entity] of pairs('used')) {
      const at = timeOf(entity, 'generatedAtTime');
      check(at === undefined || at <= (timeOf(activity, 'endedAtTime') ?? Number.NaN), `${activity} uses ${entity} before it is generated`);
    }
    // 35: an activity that informs another starts before the other ends.
    for (const [informed, informant] of pairs('wasInformedBy')) {
      check(
        (timeOf(informant, 'startedAtTime') ?? Number.NaN) <= (timeOf(informed, 'endedAtTime') ?? Number.NaN),
        `${informant} informs ${informed} too late`,
      );
    }
    // 41, 42: what is derived is generated later; 52, 53: neither derivation nor specialization goes in a circle.
    for (const property of ['wasDerivedFrom', 'specializationOf']) {
      for (const [one, other] of pairs(property))
        check(one !== other && !of(other, property).includes(one), `${one} and ${other} go in a circle`);
    }
    return found;
  };

  return { graphs: [...new Set(quads.map(({ graph }) => graph.value))], all, of, problems };
}
