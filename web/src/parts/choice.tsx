/** A choice among named values. */

export interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (string | readonly [value: string, label: string])[];
  set: (value: string) => void;
  title?: string;
}

export function Choice({ label, value, options, set, title }: ChoiceProps) {
  const pairs = options.map((option) =>
    typeof option === "string" ? ([option, option] as const) : option,
  );
  const known = pairs.some(([name]) => name === value)
    ? pairs
    : [...pairs, [value, value] as const];
  return (
    <label class="choice" title={title}>
      <span class="name">{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {known.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
