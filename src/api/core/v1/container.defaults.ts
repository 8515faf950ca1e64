import { fillUnset, fillZero, mapField, mapItems, withField } from '../../defaulting.ts';
import { defaultPullPolicy } from './image-tag.ts';
import type { ObjectFieldSelector } from './object-field-selector.ts';
import type { ContainerPort, EnvVar, HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from './pod-spec.ts';
import { fillResources, roundResources } from './resource-list.ts';
import type { ResourceRequirements } from './resource-requirements.ts';

/** What the three kinds of containers have in common, as far as defaults go. */
export interface DefaultableContainer {
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceRequirements;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
}

const CONTAINER = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };
const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const HTTP_GET = { path: '/', scheme: 'HTTP' };
const FIELD_REF = { apiVersion: 'v1' };

export function defaultContainer<C extends DefaultableContainer>(container: C): C {
  let result: DefaultableContainer = container;
  if (!result.imagePullPolicy) result = { ...result, imagePullPolicy: defaultPullPolicy(result.image) };
  result = fillZero(result, CONTAINER);
  result = mapField(result, 'ports', (ports) => mapItems(ports, defaultPort));
  result = mapField(result, 'env', (env) => mapItems(env, defaultEnvVar));
  result = mapField(result, 'resources', roundRequirements);
  result = mapField(result, 'livenessProbe', defaultProbe);
  result = mapField(result, 'readinessProbe', defaultProbe);
  result = mapField(result, 'startupProbe', defaultProbe);
  return mapField(result, 'lifecycle', defaultLifecycle) as C;
}

function defaultPort(port: ContainerPort): ContainerPort {
  return port.protocol ? port : { ...port, protocol: 'TCP' };
}

function defaultEnvVar(variable: EnvVar): EnvVar {
  return mapField(variable, 'valueFrom', (source) => {
    const withField = mapField(source, 'fieldRef', defaultFieldRef);
    return mapField(withField, 'fileKeyRef', (ref) => fillUnset(ref, { optional: false }));
  });
}

export function defaultFieldRef(ref: ObjectFieldSelector): ObjectFieldSelector {
  return fillZero(ref, FIELD_REF);
}

export function roundRequirements(resources: ResourceRequirements): ResourceRequirements {
  return mapField(mapField(resources, 'limits', roundResources), 'requests', roundResources);
}

/** A pod's container that limits a resource without asking for it asks for its limit. */
export function requestLimits<C extends DefaultableContainer>(container: C): C {
  const limits = container.resources?.limits;
  if (!limits) return container;
  const requests = fillResources(container.resources.requests, limits) ?? {};
  return withField(container, 'resources', withField(container.resources, 'requests', requests) as C['resources']);
}

function defaultProbe(probe: Probe): Probe {
  const filled = fillZero(mapField(probe, 'httpGet', defaultHttpGet), PROBE);
  return mapField(filled, 'grpc', (grpc) => fillUnset(grpc, { service: '' }));
}

function defaultHttpGet(action: HTTPGetAction): HTTPGetAction {
  return fillZero(action, HTTP_GET);
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  return mapField(mapField(lifecycle, 'postStart', defaultHandler), 'preStop', defaultHandler);
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return mapField(handler, 'httpGet', defaultHttpGet);
}
