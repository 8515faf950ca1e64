import type { CelLibrary } from './check/declarations.ts';
import { CelEnvironment } from './check/environment.ts';
import { AUTHORIZATION_LIBRARY } from './library/authorization.ts';
import { FORMAT_LIBRARY } from './library/format.ts';
import { LIST_EXTENSIONS_LIBRARY, LISTS_LIBRARY, SETS_LIBRARY } from './library/lists.ts';
import { JSON_PATCH_LIBRARY } from './library/mutation.ts';
import { CIDR_LIBRARY, IP_LIBRARY } from './library/networks.ts';
import { OPTIONAL_LIBRARY, TWO_VARIABLE_LIBRARY } from './library/optionals.ts';
import { QUANTITY_LIBRARY } from './library/quantities.ts';
import { REGEX_LIBRARY } from './library/regex.ts';
import { SEMVER_LIBRARY } from './library/semver.ts';
import { STANDARD_LIBRARY } from './library/standard.ts';
import { STRING_REVERSE_LIBRARY, STRINGS_LIBRARY } from './library/strings.ts';
import { URL_LIBRARY } from './library/urls.ts';
import { BINDING_MACROS } from './syntax/macros.ts';

const KUBERNETES_LIBRARIES: readonly CelLibrary[] = [
  STANDARD_LIBRARY,
  URL_LIBRARY,
  REGEX_LIBRARY,
  LISTS_LIBRARY,
  AUTHORIZATION_LIBRARY,
  OPTIONAL_LIBRARY,
  QUANTITY_LIBRARY,
  STRINGS_LIBRARY,
  SETS_LIBRARY,
  IP_LIBRARY,
  CIDR_LIBRARY,
  FORMAT_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  SEMVER_LIBRARY,
  LIST_EXTENSIONS_LIBRARY,
];

/** The functions available to every expression of the Kubernetes API. */
export const KUBERNETES_ENVIRONMENT = new CelEnvironment(KUBERNETES_LIBRARIES);

/** The same with `jsonpatch.escapeKey`, for mutating policies; use it with `resolveMutationType`. */
export const MUTATION_ENVIRONMENT = new CelEnvironment([...KUBERNETES_LIBRARIES, JSON_PATCH_LIBRARY]);

/** The same with `cel.bind`, for device selectors, which repeat the same domain. */
export const DEVICE_ENVIRONMENT = new CelEnvironment([...KUBERNETES_LIBRARIES, { functions: [], macros: BINDING_MACROS }]);

/** Everything, including what the API server does not offer: `cel.bind` and `string.reverse`. */
export const FULL_ENVIRONMENT = new CelEnvironment([
  ...KUBERNETES_LIBRARIES,
  JSON_PATCH_LIBRARY,
  STRING_REVERSE_LIBRARY,
  { functions: [], macros: BINDING_MACROS },
]);
