import { nameIsDnsSubdomain } from '#machinery';
import { validateNodeSelector } from '../../core/v1/node-selector/node-selector.validation.ts';
import { NodeSelectorTerm } from '../../core/v1/node-selector/node-selector-term.ts';
import type { FieldReport } from '../../field-report.ts';
import { goStruct } from '../../go-struct.ts';
import type { ResourceSliceSpec } from './resource-slice.ts';

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

export function validateNodeName(name: string, at: FieldReport): void {
  at.problems(name, nameIsDnsSubdomain(name, false));
}

/** Which nodes can access a slice's devices: exactly one of four fields. */
export function validateSliceNodes(spec: ResourceSliceSpec, at: FieldReport): void {
  const present: string[] = [];
  if (spec.nodeName) {
    present.push('`nodeName`');
    validateNodeName(spec.nodeName, at.child('nodeName'));
  } else if (spec.nodeName !== undefined) {
    at.child('nodeName').invalid(spec.nodeName, 'must be either unset or set to a non-empty string');
  }
  if (spec.nodeSelector) {
    present.push('`nodeSelector`');
    validateSelector(spec.nodeSelector, at.child('nodeSelector'));
  }
  for (const name of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[name]) present.push(`\`${name}\``);
    else if (spec[name] !== undefined) at.child(name).invalid(spec[name], 'must be either unset or set to true');
  }
  if (present.length === 0) at.required(ONE_OF);
  if (present.length > 1) at.invalid(`{${present.join(', ')}}`, `${ONE_OF}, but multiple fields are set`);
}

/** With a single term, selectors of slices can be combined. */
function validateSelector(selector: NonNullable<ResourceSliceSpec['nodeSelector']>, at: FieldReport): void {
  validateNodeSelector(selector, at);
  const terms = selector.nodeSelectorTerms;
  if (terms?.length === 1) return;
  const printed = terms ? terms.map((term) => goStruct(NodeSelectorTerm, term)) : null;
  at.child('nodeSelectorTerms').invalid(printed, 'must have exactly one node selector term');
}
