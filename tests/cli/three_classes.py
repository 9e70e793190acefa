#!/usr/bin/env python3
"""three_classes.py - ROWS records of two features and a fruit that follows from them, as CSV."""
import math, random, sys

random.seed(5)
print("a,b,fruit")
for _ in range(int(sys.argv[1])):
    turn = random.random()
    angle = 2 * math.pi * turn + random.gauss(0, 0.2)
    print(f"{math.cos(angle):.4f},{math.sin(angle):.4f},{['apple', 'pear', 'plum'][int(3 * turn)]}")
