#!/usr/bin/env python3
"""make_tables.py diabetes130.csv national2019.csv: the two tables of this folder's examples, from public files.

visits.csv   visits to hospitals: UCI "Diabetes 130-US hospitals for years 1999-2008", diabetic_data.csv.
census.csv   adults of the American Community Survey: national2019.csv of the NIST "Diverse Communities Data Excerpts";
             separated by semicolons, education in six classes.
"""

import sys

import pandas as pd

EDUCATION = ["school", "high_school", "some_college", "associate", "bachelor", "graduate"]
CODES = {**dict.fromkeys("1234", "school"), **dict.fromkeys("56", "high_school"), "7": "some_college",
         "8": "associate", "9": "bachelor", **dict.fromkeys(["10", "11", "12"], "graduate")}  # fmt: skip


def main() -> None:
    visits = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
    visits.to_csv("visits.csv", index=False)
    people = pd.read_csv(sys.argv[2], dtype=str, keep_default_na=False)
    people = people[people.AGEP.astype(int) >= 25]
    people = people.assign(education=people.EDU.map(CODES))
    people.drop(columns=["EDU"]).to_csv("census.csv", index=False, sep=";")


if __name__ == "__main__":
    main()
