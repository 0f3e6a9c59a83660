"""What an assignment forbids, and what it lets students import.

guards      calls that are forbidden, caught where they are made
scan        signs in the text that a person should look at
signs, folding   what is a sign, and names that are put together from constants
imports     imports that cannot or must not be met, and what stands in for them
"""
