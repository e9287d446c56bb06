/** What takes long of `property-graph-csv.test.ts`. */
import './property-graph-csv.test.ts';
