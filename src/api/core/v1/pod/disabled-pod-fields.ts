import { mapField, mapItems, withField, withoutFields } from '../../../defaulting.ts';
import type { Container, EphemeralContainer } from '../container/container.ts';
import type { PodTemplateSpec } from '../pod-template/pod-template-spec.ts';
import type { ProjectedVolumeSource, VolumeProjection } from '../volume/projected-volume-source.ts';
import type { Volume } from '../volume/volume.ts';
import type { PodSpec } from './pod-spec.ts';

/** Names of feature gates that are off by default and guard pod fields. */
export type PodFeatures = ReadonlySet<string>;

const NO_FEATURES: PodFeatures = new Set();

/**
 * Fields that v1.36 does not serve by default: certificates and trust bundles in volumes, stop signals and scheduling groups. They are dropped from
 * requests, as upstream.
 */
export function dropDisabledPodFields(spec: PodSpec, features: PodFeatures = NO_FEATURES): PodSpec {
  let result = withoutFields(spec, 'schedulingGroup');
  result = mapField(result, 'volumes', (volumes) => mapItems(volumes, (volume) => dropFromVolume(volume, features)));
  result = mapField(result, 'initContainers', (containers) => mapItems(containers, dropStopSignal));
  result = mapField(result, 'containers', (containers) => mapItems(containers, dropStopSignal));
  return mapField(result, 'ephemeralContainers', (containers) => mapItems(containers, dropStopSignal));
}

export function dropDisabledTemplateFields(template: PodTemplateSpec, features: PodFeatures = NO_FEATURES): PodTemplateSpec {
  return mapField(template, 'spec', (spec) => dropDisabledPodFields(spec, features));
}

function dropFromVolume(volume: Volume, features: PodFeatures): Volume {
  return volume.projected ? withField(volume, 'projected', dropProjections(volume.projected, features)) : volume;
}

function dropProjections(projected: ProjectedVolumeSource, features: PodFeatures): ProjectedVolumeSource {
  const drop = (source: VolumeProjection) => {
    const served = features.has('PodCertificateRequest') ? source : withoutFields(source, 'podCertificate');
    return features.has('ClusterTrustBundleProjection') ? served : withoutFields(served, 'clusterTrustBundle');
  };
  return mapField(projected, 'sources', (sources) => mapItems(sources, drop));
}

function dropStopSignal<C extends Container | EphemeralContainer>(container: C): C {
  if (container.lifecycle?.stopSignal === undefined) return container;
  const lifecycle = withoutFields(container.lifecycle, 'stopSignal');
  if (Object.keys(lifecycle).length > 0) return { ...container, lifecycle };
  return withoutFields(container, 'lifecycle');
}
