#!/usr/bin/env python3
"""persons_table.py - VISITS of patients who come up to 12 times, as CSV: patient, age, pressure, and whether ill."""
import random, sys

random.seed(11)
print("patient,age,pressure,ill")
left, patient = int(sys.argv[1]), 0
while left:
    patient += 1
    age, often = random.uniform(20, 90), random.randint(1, 12)
    for _ in range(min(left, often)):
        pressure = random.gauss(90 + age / 2, 12)
        ill = age / 40 + (pressure - 120) / 15 + random.gauss(0, 0.7) > 1.5
        print(f"P{patient:05d},{age:.1f},{pressure:.1f},{'yes' if ill else 'no'}")
        left -= 1
