"""irkit"""
