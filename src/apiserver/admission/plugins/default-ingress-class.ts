import type { networking } from '#api';
import type { AdmissionPlugin } from '../admission.ts';
import { defaultClass } from './default-class.ts';
import { type PluginDeps, readObjects } from './plugin-deps.ts';

const CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const MARK = 'ingressclass.kubernetes.io/is-default-class';
const OLD_CLASS = 'kubernetes.io/ingress.class';

/** Sets the default IngressClass on ingresses that name none. */
export function defaultIngressClass(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    operations: ['CREATE'],
    resources: ['ingresses.networking.k8s.io'],
    admit: async ({ subresource, object }) => {
      if (subresource !== '') return;
      const ingress = object as networking.Ingress;
      if (ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[OLD_CLASS] !== undefined) return;
      const ingressClassName = defaultClass(await readObjects(deps, CLASSES), MARK);
      return ingressClassName === undefined ? undefined : { ...ingress, spec: { ...ingress.spec, ingressClassName } };
    },
  };
}
