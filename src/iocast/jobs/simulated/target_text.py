"""Reads simulated targets, "sim:hdd" or "sim:nvme,servers=4,stall=1s/5s", into the device they describe."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.jobs.simulated.device_options import OPTIONS
from iocast.jobs.simulated.device_presets import PRESETS
from iocast.jobs.simulated.law_text import LAW_FORMS
from iocast.model.simulated_device import SimulatedDevice
from iocast.model.target import Target
from iocast.tools.line_problems import meant
from iocast.units import size_text

_UNITS = 1 << 28  # that the core keeps a note of each


def simulated_presets() -> dict[str, str]:
    """The name of every simulated device with its description in one line."""
    return {f"sim:{name}": says for name, (says, _) in PRESETS.items()}


def parse_target(text: str) -> Target:
    """The Target of "sim:NAME" or "sim:NAME,OPTION=VALUE,...". Raises SpecError."""
    if not text.startswith("sim:"):
        raise SpecError(f'"{text}" is not a simulated target', f"for example {', '.join(simulated_presets())}")
    name, *options = [part.strip() for part in text.removeprefix("sim:").split(",")]
    if name not in PRESETS:
        said = f'unknown simulated device "{name}"' if name else "no device named"
        hint = f"devices: {', '.join(simulated_presets())}"
        raise SpecError(f"{text.removesuffix(':')}: {said}{meant(name, PRESETS)}", hint)
    device = PRESETS[name][1]
    keys: set[str] = set()
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        _refuse_unless_known(text, key, equals, keys)
        keys.add(key)
        try:
            device = OPTIONS[key].apply(device, value)
        except (SpecError, ValueError) as error:
            said = f"{text}: {key}={value}: {error}"
            form, says, _ = OPTIONS[key]
            laws = f"; LAW is one of {LAW_FORMS}" if "LAW" in form else ""
            raise SpecError(said, f"written {key}={form}: {says}{laws}") from None
    _refuse_what_does_not_fit(text, device)
    return Target(path=text, kind="sim", size_bytes=device.size_bytes, direct=True, simulated=device)


def _refuse_unless_known(text: str, key: str, equals: str, keys: set[str]) -> None:
    hint = f"options: {', '.join(OPTIONS)}"
    if not key:
        raise SpecError(f"{text}: an option is missing between or after the commas", hint)
    if key not in OPTIONS:
        raise SpecError(f'{text}: unknown option "{key}"{meant(key, OPTIONS)}', hint)
    if not equals:
        raise SpecError(f'{text}: option "{key}" has no value', f"written {key}={OPTIONS[key].form}")
    if key in keys:
        raise SpecError(f'{text}: option "{key}" is given twice')


def _refuse_what_does_not_fit(text: str, device: SimulatedDevice) -> None:
    """Refuses options that contradict each other."""
    if device.errors and device.errors.end_bytes > device.size_bytes:
        raise SpecError(f"{text}: the errors lie beyond the end of the device", "make size= larger")
    if device.thin and device.size_bytes // device.thin.unit_bytes > _UNITS:
        least = size_text(1 << (device.size_bytes // _UNITS).bit_length())
        raise SpecError(f"{text}: the device has too many units to track", f"make unit= at least {least}")
    if device.cache and device.cache.size_bytes // device.cache.line_bytes >= _UNITS:
        raise SpecError(f"{text}: the cache is too large to track", "make cache= smaller")
