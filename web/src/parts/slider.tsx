/** A slider: draws while it is dragged, simulates the whole run on release. */

import { dragging } from "../state/runs";

export interface SliderProps {
  label: string;
  value: number;
  least: number;
  most: number;
  /** Equal steps are equal ratios. */
  logarithmic?: boolean;
  /** The value for readers. */
  text: string;
  set: (value: number) => void;
  /** What it means, as a tooltip. */
  title?: string;
}

const STEPS = 400;

export function Slider({ label, value, least, most, logarithmic, text, set, title }: SliderProps) {
  const [low, high] = logarithmic ? [Math.log(least), Math.log(most)] : [least, most];
  const place = ((logarithmic ? Math.log(Math.max(value, least)) : value) - low) / (high - low);
  const valueAt = (step: number) => {
    const point = low + (step / STEPS) * (high - low);
    return Number((logarithmic ? Math.exp(point) : point).toPrecision(3));
  };
  const release = () => (dragging.value = false);
  return (
    <label class="slider" title={title}>
      <span class="name">{label}</span>
      <span class="value">{text}</span>
      <input
        type="range"
        min={0}
        max={STEPS}
        value={Math.round(place * STEPS)}
        aria-valuetext={text}
        onInput={(event) => {
          dragging.value = true;
          set(valueAt(event.currentTarget.valueAsNumber));
        }}
        onChange={release}
        onPointerUp={release}
        onPointerCancel={release}
        onKeyUp={release}
        onBlur={release}
      />
    </label>
  );
}
