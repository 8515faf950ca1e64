import { cel } from '#machinery';

/** Upstream's limits of devices, which determine the cost of expressions. */
const MAX_DOMAIN_LENGTH = 63;
const MAX_ID_LENGTH = 32;
const MAX_DRIVER_LENGTH = 63;
const MAX_ATTRIBUTE_LENGTH = 64;
const MAX_ATTRIBUTES = 32;

const DOMAIN = cel.STRING.with({ maxElements: MAX_DOMAIN_LENGTH });
const ID = cel.STRING.with({ maxElements: MAX_ID_LENGTH });
const BOUNDED = { maxElements: MAX_ATTRIBUTES };

/** The variables of claim and class expressions: the candidate device. */
export const DEVICE_TYPE = cel.objectType('kubernetes.DRADevice', {
  driver: cel.STRING.with({ maxElements: MAX_DRIVER_LENGTH }),
  allowMultipleAllocations: cel.BOOL.with({ maxElements: 1 }),
  attributes: cel.mapType(DOMAIN, cel.mapType(ID, cel.ANY.with({ maxElements: MAX_ATTRIBUTE_LENGTH }), BOUNDED), BOUNDED),
  capacity: cel.mapType(DOMAIN, cel.mapType(ID, cel.QUANTITY_TYPE, BOUNDED), BOUNDED),
});

const VARIABLES = { device: DEVICE_TYPE };
const DECLARED_SIZES = cel.declaredSizes(VARIABLES);

/** All attributes have the same bound: `device.attributes[domain].name`. */
const deviceSizes: cel.SizeEstimator = (path, ...rest) => {
  const [variable, field, , name] = path;
  const isAttribute = variable === 'device' && field === 'attributes' && name !== undefined && !name.startsWith('@');
  // bounded: spread arguments of one function call
  return DECLARED_SIZES(isAttribute ? path.with(3, '@values') : path, ...rest);
};

/** A compiled expression on `device`, or the error. The result may be an attribute, whose type is only known at run time. */
export function compileDeviceExpression(expression: string): cel.CompileResult {
  const result = cel.compile(expression, { variables: VARIABLES, environment: cel.DEVICE_ENVIRONMENT });
  if (!result.ok) return result;
  const { outputType } = result.program;
  if (outputType.kind === 'bool' || outputType.kind === 'any') return result;
  const message = `must evaluate to bool or the unknown type, not ${cel.formatType(outputType)}`;
  return { ok: false, issues: [], stage: 'result', message };
}

export function worstCostOf(program: cel.CelProgram): number {
  return program.estimateCost(deviceSizes).max;
}
