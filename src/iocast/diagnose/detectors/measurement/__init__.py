"""Detectors of measurements that are themselves at fault: failed I/Os, absent generators, coarse clocks."""
